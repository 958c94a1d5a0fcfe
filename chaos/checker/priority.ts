import type { History } from "./history.ts";
import type { TaskRow } from "./rows.ts";
import type { Stories } from "./stories.ts";
import type { Violation } from "./violation.ts";

/** The database decides what is due and notes when it was committed, by one clock. */
const CLOCK_MS = 5;

/** No attempt begins before its task is due, neither the first nor one that waits after a failure. */
export function checkDue(stories: Stories): Violation[] {
  return stories.all.flatMap(({ id, changes }) =>
    changes
      .filter(
        ({ op, row, committedAt }) =>
          op !== "delete" && row.status === "active" && row.runAt > committedAt + CLOCK_MS,
      )
      .map(({ row, committedAt }): Violation => {
        const text = `attempt ${row.attemptCount} began ${(row.runAt - committedAt).toFixed(0)} ms before it was due`;
        return { promise: "order", text, taskId: id, at: committedAt };
      }),
  );
}

/** In a queue of one slot, filled while it was paused, tasks are called by priority, then by when they were due. */
export function checkOrder({ rest }: History, stories: Stories): Violation[] {
  if (rest.orderedQueueId === null) return [];
  const tasks = rest.tasks.filter(({ queueId }) => queueId === rest.orderedQueueId);
  const called = tasks
    .flatMap((task) =>
      stories
        .find(task.id)
        .calls.slice(0, 1)
        .map(({ begunAt }) => ({ task, begunAt })),
    )
    .sort((one, other) => one.begunAt - other.begunAt);
  return called.slice(1).flatMap(({ task, begunAt }, index): Violation[] => {
    const before = called[index]?.task;
    if (before === undefined || isBefore(before, task)) return [];
    const text = `priority ${before.priority} (${before.id}) started before priority ${task.priority}`;
    return [{ promise: "order", text, taskId: task.id, at: begunAt }];
  });
}

function isBefore(one: TaskRow, other: TaskRow): boolean {
  if (one.priority !== other.priority) return one.priority > other.priority;
  return one.runAt < other.runAt || (one.runAt === other.runAt && one.id <= other.id);
}
