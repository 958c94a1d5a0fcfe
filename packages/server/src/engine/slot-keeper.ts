import type { Time } from "../domain/time.ts";
import type { Sql } from "../store/sql.ts";
import { releaseSlots } from "../store/tasks/queue-slots.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { Lane, Lanes } from "./lanes.ts";
import type { Lease } from "./lease.ts";

const ROUND_MS = 2_000;
/** Slots of an idle queue go back sooner when there is someone else who could use them. */
const IDLE_MS = { alone: 600_000, withPeers: 10_000 } as const;

export interface SlotKeeper {
  tidyOnce(): Promise<number>;
}

/** Gives back the slots of queues that went quiet, and asks again where there are fewer slots than work. */
export function createSlotKeeper(deps: {
  readonly sql: Sql;
  readonly lanes: Lanes;
  readonly lease: Lease;
  readonly dispatcher: Pick<Dispatcher, "refresh">;
  readonly time: Time;
}): SlotKeeper {
  const { lanes, lease } = deps;

  function isIdle(lane: Lane): boolean {
    const idleMs = lease.peers > 0 ? IDLE_MS.withPeers : IDLE_MS.alone;
    const quiet = lane.inFlight === 0 && lane.waiting === 0 && !lane.busy;
    return quiet && deps.time.monotonicMs() - lane.usedAtMs > idleMs;
  }

  return {
    async tidyOnce() {
      const idle: { lane: Lane; teamId: number; queueId: number }[] = [];
      for (const lane of lanes.all) {
        if (lane.grant === null) continue;
        if (isIdle(lane)) idle.push({ lane, teamId: lane.teamId, queueId: lane.grant.queueId });
        else if (lane.waiting > 0 && lane.grant.slots < lane.grant.concurrency)
          deps.dispatcher.refresh(lane.teamId, lane.queue);
      }
      if (idle.length === 0) return ROUND_MS;
      // Busy until the row is gone: nobody may use slots here that are being given away.
      for (const { lane } of idle) lane.busy = true;
      try {
        await releaseSlots(deps.sql, lease.workerId, idle);
      } finally {
        for (const { lane } of idle) {
          lane.busy = false;
          lane.grant = null;
          lane.stale = true;
          if (lane.waiting > 0) deps.dispatcher.refresh(lane.teamId, lane.queue);
          else lanes.drop(lane);
        }
      }
      return ROUND_MS;
    },
  };
}
