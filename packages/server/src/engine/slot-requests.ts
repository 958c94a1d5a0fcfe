import type { Time } from "../domain/time.ts";
import type { Database } from "../store/sql.ts";
import type { Hint } from "../store/tasks/hints.ts";
import { acquireSlots, type SlotGrant } from "../store/tasks/queue-slots.ts";
import type { Lease } from "./lease.ts";
import { type LocalQueue, type LocalQueues, openWindow } from "./local-queues.ts";

/** Requests the slots of all these queues in one transaction. */
export type RequestSlots = (locals: readonly LocalQueue[]) => Promise<void>;

export interface SlotRequestDeps {
  readonly database: Database;
  /** Reads the budgets of teams, if they are not known yet. */
  readonly learn: (teamIds: readonly number[]) => Promise<void> | null;
  readonly localQueues: LocalQueues;
  readonly lease: Lease;
  readonly hint: (hint: Hint) => void;
  readonly time: Time;
}

export function createSlotRequests(deps: SlotRequestDeps): RequestSlots {
  const { database, localQueues, lease, time } = deps;

  async function ask(locals: readonly LocalQueue[]): Promise<readonly (SlotGrant | null)[]> {
    await deps.learn([...new Set(locals.map(({ teamId }) => teamId))]);
    const requests = locals.map(({ teamId, queue, grant, inFlight }) => ({
      teamId,
      queue,
      using: grant === null ? null : { queueId: grant.queueId, inFlight },
    }));
    return acquireSlots(database, lease.workerId, requests);
  }

  function apply(local: LocalQueue, grant: SlotGrant | null): void {
    if (grant === null) {
      localQueues.drop(local);
      return;
    }
    // The queue was deleted and recreated under the same name: calls of the old one must not fill the new one's slots.
    const replaced = local.grant !== null && local.grant.queueId !== grant.queueId;
    if (replaced) localQueues.drop(local);
    const current = replaced ? localQueues.open(local.teamId, local.queue) : local;
    const before = local.grant;
    current.grant = grant;
    openWindow(current);
    // A change reported during the request may be newer than the grant, which then stays stale. An overdrawn grant has
    // one slot for each call in flight: calls that ended during the request were counted under the previous grant and
    // did not return their slot.
    current.stale = local.stale || (grant.overdrawn && current.inFlight < grant.slots);
    current.waiting = local.waiting;
    current.flows = local.flows;
    current.usedAtMs = time.monotonicMs();
    // Sent once, on the change: two starved workers would otherwise answer each other forever.
    const isNews = (grant.starved && !before?.starved) || grant.slots < (before?.slots ?? 0);
    if (isNews) deps.hint({ kind: "slots", teamId: local.teamId, queue: local.queue });
  }

  return async (locals) => {
    for (const local of locals) local.stale = false;
    const grants = await ask(locals).catch((error) => {
      for (const local of locals) local.stale = true;
      throw error;
    });
    for (const [index, local] of locals.entries()) apply(local, grants[index] ?? null);
  };
}
