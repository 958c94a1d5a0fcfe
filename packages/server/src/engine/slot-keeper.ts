import type { Time } from "../domain/time.ts";
import type { Sql } from "../store/sql.ts";
import type { Hint } from "../store/tasks/hints.ts";
import { releaseSlots, shrinkSlots } from "../store/tasks/queue-slots.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { Lease } from "./lease.ts";
import { hasWork, type LocalQueue, type LocalQueues } from "./local-queues.ts";
import { LEAN, type RoundCost } from "./round-cost.ts";

const ROUND_MS = 2_000;
export const SLOT_COST: RoundCost = { rows: 1, bytes: LEAN, per: "queue", turns: "each" };
/** Slots of an idle queue are returned sooner if other workers could use them. */
const IDLE_MS = { alone: 600_000, withPeers: 10_000 } as const;

export interface SlotKeeper {
  tidyOnce(): Promise<number>;
  /** The node is stopping: unused slots are returned at once. */
  leave(): void;
  readonly isLeaving: boolean;
}

/** Returns the slots of idle queues, and requests slots where there are fewer than tasks. */
export function createSlotKeeper(deps: {
  readonly sql: Sql;
  readonly localQueues: LocalQueues;
  readonly lease: Lease;
  readonly dispatcher: Pick<Dispatcher, "refresh">;
  readonly time: Time;
  readonly hint: (hint: Hint) => void;
}): SlotKeeper {
  const { localQueues, lease } = deps;
  let isLeaving = false;

  /** While the last calls of a stopping node run, other workers must be able to run the tasks of its queues. */
  async function giveUnusedAway(): Promise<number> {
    const unused = [...localQueues.all].flatMap((local) => {
      const { grant, inFlight } = local;
      return grant !== null && grant.slots > inFlight ? [{ local, grant, inFlight }] : [];
    });
    if (unused.length === 0) return ROUND_MS;
    await shrinkSlots(
      deps.sql,
      lease.workerId,
      unused.map(({ local, grant, inFlight }) => ({
        teamId: local.teamId,
        queueId: grant.queueId,
        inFlight,
      })),
    );
    for (const { local, grant, inFlight } of unused) {
      local.grant = { ...grant, slots: inFlight };
      deps.hint({ kind: "slots", teamId: local.teamId, queue: local.queue });
    }
    return ROUND_MS;
  }

  function isIdle(local: LocalQueue): boolean {
    const idleMs = lease.peers > 0 ? IDLE_MS.withPeers : IDLE_MS.alone;
    const quiet = local.inFlight === 0 && !hasWork(local) && !local.busy;
    return quiet && deps.time.monotonicMs() - local.usedAtMs > idleMs;
  }

  return {
    get isLeaving() {
      return isLeaving;
    },
    leave() {
      isLeaving = true;
    },
    async tidyOnce() {
      if (isLeaving) return giveUnusedAway();
      const idle: { local: LocalQueue; teamId: number; queueId: number; version: string | null }[] = [];
      for (const local of localQueues.all) {
        if (local.grant === null) continue;
        const { queueId, version, slots, concurrency, overdrawn } = local.grant;
        if (isIdle(local)) idle.push({ local, teamId: local.teamId, queueId, version });
        else if (hasWork(local) && (slots < concurrency || overdrawn))
          deps.dispatcher.refresh(local.teamId, local.queue);
      }
      if (idle.length === 0) return ROUND_MS;
      // Busy until the row is deleted: no task may start in slots that are being returned.
      for (const { local } of idle) local.busy = true;
      let isGone = false;
      try {
        await releaseSlots(deps.sql, lease.workerId, idle);
        isGone = true;
      } finally {
        for (const { local } of idle) letGo(local, isGone);
      }
      return ROUND_MS;
    },
  };

  /** Without an answer it is unknown whether the slots are returned: they are requested before use, and returned again. */
  function letGo(local: LocalQueue, isGone: boolean): void {
    local.busy = false;
    local.stale = true;
    if (isGone) local.grant = null;
    if (hasWork(local)) deps.dispatcher.refresh(local.teamId, local.queue);
    else if (isGone) localQueues.drop(local);
  }
}
