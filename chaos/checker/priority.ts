import type { History, TaskRow } from "./history.ts";
import type { Stories } from "./stories.ts";
import type { Violation } from "./violation.ts";

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
