import { Problem } from "../../domain/problem.ts";
import type { Time, Timer } from "../../domain/time.ts";
import type { Sql } from "../../store/sql.ts";
import type { TaskKey } from "../../store/tasks/callbacks.ts";
import { findEnded } from "../../store/tasks/ended-tasks.ts";

/** Half of a node's connections: the other half must be able to end the awaited tasks. */
const MOST_ON_A_NODE = 5_000;
const MOST_OF_A_TEAM = 1_000;
/** Ends on other nodes are found by polling: one statement for all waits. */
const LOOK_MS = 500;
const RETRY_AFTER_SECONDS = 5;

/** Waits until the task ends, the seconds have passed, or the caller is gone. */
export type UntilEnded = (task: TaskKey, seconds: number, over: AbortSignal) => Promise<void>;

/**
 * The requests of this node that wait for a task to end. The task does not know its waiters: an end on this node is
 * reported in memory, any other is found by polling. So a task without waiters costs one lookup in an empty map.
 */
export interface TaskWaits {
  /** Reserves a slot during this work. Refuses first if there are too many. */
  hold<T>(teamId: number, work: (untilEnded: UntilEnded) => Promise<T>): Promise<T>;
  /** This task has ended, on this node. */
  ended(task: Pick<TaskKey, "id">): void;
  /** The number of reserved slots. */
  readonly count: number;
}

export function createTaskWaits(deps: { readonly sql: Sql; readonly time: Time }): TaskWaits {
  const { sql, time } = deps;
  const places = new Map<number, number>();
  const waiters = new Map<string, { readonly task: TaskKey; readonly wakers: Set<() => void> }>();
  let taken = 0;
  let nextLook: Timer | null = null;
  let isLooking = false;
  let isOutdated = false;

  function wake(id: string): void {
    for (const waker of [...(waiters.get(id)?.wakers ?? [])]) waker();
  }

  /** One query at a time: later requests share the next one. */
  async function look(): Promise<void> {
    nextLook?.cancel();
    nextLook = null;
    isOutdated = true;
    if (isLooking) return;
    isLooking = true;
    while (isOutdated && waiters.size > 0) {
      isOutdated = false;
      const asked = [...waiters.values()].map(({ task }) => task);
      // An unreachable database only costs time: the next query tries again.
      for (const id of await findEnded(sql, asked).catch(() => [])) wake(id);
    }
    isLooking = false;
    if (waiters.size > 0) nextLook = time.setTimer(look, LOOK_MS);
  }

  function untilEnded(task: TaskKey, seconds: number, over: AbortSignal): Promise<void> {
    if (over.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const waiter = waiters.get(task.id) ?? { task, wakers: new Set() };
      const done = () => {
        timer.cancel();
        over.removeEventListener("abort", done);
        waiter.wakers.delete(done);
        if (waiter.wakers.size === 0) waiters.delete(task.id);
        resolve();
      };
      const timer = time.setTimer(done, seconds * 1000);
      over.addEventListener("abort", done);
      waiters.set(task.id, waiter);
      waiter.wakers.add(done);
      // It may have ended between the caller's own query and now.
      void look();
    });
  }

  return {
    async hold(teamId, work) {
      const ofTeam = places.get(teamId) ?? 0;
      if (taken >= MOST_ON_A_NODE || ofTeam >= MOST_OF_A_TEAM)
        throw new Problem("too_many_waiting", {}, { retryAfterSeconds: RETRY_AFTER_SECONDS });
      taken += 1;
      places.set(teamId, ofTeam + 1);
      try {
        return await work(untilEnded);
      } finally {
        taken -= 1;
        const left = (places.get(teamId) ?? 1) - 1;
        if (left === 0) places.delete(teamId);
        else places.set(teamId, left);
      }
    },
    ended({ id }) {
      if (waiters.size > 0) wake(id);
    },
    get count() {
      return taken;
    },
  };
}
