import type { SlotGrant } from "../store/tasks/queue-slots.ts";
import type { Pool } from "./budget.ts";

/**
 * What this worker knows of one queue: how many calls it may make there, and whether there is work. A slot is the
 * right to one call, of the queue's concurrency; a grant is the slots that the database gave this worker.
 */
export interface LocalQueue {
  readonly teamId: number;
  readonly queue: string;
  /** Null until slots were asked for the first time. */
  grant: SlotGrant | null;
  /** The grant is out of date: ask again before the next claim. */
  stale: boolean;
  /** Calls under way, and slots set aside for a claim or an insert under way. */
  inFlight: number;
  /** Due tasks that wait here, as far as is known; Infinity when there may be any number. */
  waiting: number;
  /** Being claimed from, or asked slots for, right now. */
  busy: boolean;
  /** The claim under way takes all that is known to wait: a task that comes now has none before it. */
  covering: boolean;
  /** Out of the books: calls may still end here, none may start. The queue is gone, or replaced by one of its name. */
  retired: boolean;
  usedAtMs: number;
}

export interface LocalQueues {
  readonly all: Iterable<LocalQueue>;
  find(teamId: number, queue: string): LocalQueue | undefined;
  open(teamId: number, queue: string): LocalQueue;
  drop(local: LocalQueue): void;
  /** How many more calls may start here now. */
  free(local: LocalQueue): number;
  take(local: LocalQueue, count: number): void;
  giveBack(local: LocalQueue, count: number): void;
  readonly inFlight: number;
}

/** The books of one worker: a queue's slots, within what its team may have under way on this node. */
export function createLocalQueues(pool: Pool): LocalQueues {
  const localQueues = new Map<string, LocalQueue>();

  function add(local: LocalQueue, count: number): void {
    local.inFlight += count;
    if (count > 0) pool.take(local.teamId, count);
    else pool.giveBack(local.teamId, -count);
  }

  return {
    get all() {
      return localQueues.values();
    },
    get inFlight() {
      return pool.total;
    },
    find: (teamId, queue) => localQueues.get(`${teamId}/${queue}`),
    open(teamId, queue) {
      const key = `${teamId}/${queue}`;
      const known = localQueues.get(key);
      if (known !== undefined) return known;
      const local: LocalQueue = {
        teamId,
        queue,
        grant: null,
        stale: true,
        inFlight: 0,
        waiting: 0,
        busy: false,
        covering: false,
        retired: false,
        usedAtMs: 0,
      };
      localQueues.set(key, local);
      return local;
    },
    drop(local) {
      if (!local.retired) localQueues.delete(`${local.teamId}/${local.queue}`);
      local.retired = true;
    },
    free(local) {
      if (local.retired || local.grant === null || local.grant.paused) return 0;
      // What is held beyond the limit is for calls under way, and goes back as they end.
      if (local.grant.overdrawn) return 0;
      return Math.min(local.grant.slots - local.inFlight, pool.room(local.teamId));
    },
    take: (local, count) => add(local, count),
    giveBack: (local, count) => add(local, -count),
  };
}
