import type { ChangedTask, TaskChanges } from "../domain/task-changes.ts";
import type { Sql } from "../store/sql.ts";
import {
  joinFlowTasks,
  MOST_JOINING,
  type OrderedQueue,
  orderedQueues,
} from "../store/tasks/ordered-lines.ts";
import type { Actors } from "./actors.ts";
import { LEAN, type RoundCost } from "./round-cost.ts";

/** How late the next task of a line starts if the end of the one before it was not heard of. */
const ROUND_MS = 5_000;
/** A queue that has just become ordered: its waiting tasks with a flow join the line. */
const COST: RoundCost = { rows: MOST_JOINING + 1, bytes: LEAN, per: "queue", turns: "each" };

export interface OrderedQueues {
  /** Learns which queues are ordered, and has those with due tasks looked at. Returns the milliseconds until the next round. */
  lookOnce(): Promise<number>;
}

/**
 * The end of a task frees the line of its queue: the next one must start at once, wherever the task ended, by a call, a poll,
 * a callback, a deadline or a user. Every node knows the ordered queues, so that the end of any other task costs one look
 * into an empty map.
 */
export function createOrderedQueues(deps: {
  readonly sql: Sql;
  readonly changes: TaskChanges;
  readonly actors: Pick<Actors, "add">;
  /** The next task of this queue may start. */
  readonly wake: (teamId: number, queue: string) => void;
  /** A queue is no longer ordered: tasks of flows wait in it, of which no worker may know. */
  readonly onUnordered: () => void;
}): OrderedQueues {
  let known = new Map<number, OrderedQueue>();

  function onFree({ queueId, sandbox, message }: ChangedTask): void {
    if (known.size === 0 || sandbox) return;
    // A line also waits for the callbacks of its messages, which are in another queue.
    for (const id of [queueId, message?.lineOf]) {
      const queue = id === undefined ? undefined : known.get(id);
      if (queue !== undefined) deps.wake(queue.teamId, queue.queue);
    }
  }

  deps.changes.subscribe({ ended: onFree, removed: onFree, dismissed: onFree });

  async function lookOnce(): Promise<number> {
    const found = await orderedQueues(deps.sql);
    const before = known;
    known = new Map(found.map((queue) => [queue.queueId, queue]));
    for (const id of before.keys()) if (!known.has(id)) deps.onUnordered();
    for (const each of found) {
      const joined = each.isNew ? await joinFlowTasks(deps.sql, each) : 0;
      if (each.hasDue || joined > 0) deps.wake(each.teamId, each.queue);
    }
    return ROUND_MS;
  }

  deps.actors.add({ name: "ordered-queues", once: lookOnce, cost: COST });
  return { lookOnce };
}
