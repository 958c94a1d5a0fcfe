import type { History } from "./history.ts";
import { isEnd, type TaskChange } from "./rows.ts";
import type { Stories } from "./stories.ts";
import type { Violation } from "./violation.ts";

/** The queue whose tasks are removed so soon after their end: see rig/short-lives.ts. */
export const FLEETING = { queue: "fleeting", lifeMs: 6_000 } as const;

/** With every fault healed it is removed within this time of the end of its life: by a round, and another one. */
const LATE_MS = 10_000;
/** The time of its end and that of its removal are taken by one clock and rounded in two ways. */
const CLOCK_MS = 5;

/** A task that has ended lives as long as the retention says, from its last end on, and no longer. */
export function checkRetention({ calmAt, rest }: History, stories: Stories): Violation[] {
  const violation = (text: string, taskId: string, at: number): Violation => ({
    promise: "retention",
    text,
    taskId,
    at,
  });
  const early = stories.all.flatMap(({ id, changes }): Violation[] => {
    const removal = changes.at(-1);
    if (removal === undefined || !isFleeting(removal, stories) || removal.op !== "delete") return [];
    const { row, committedAt: at } = removal;
    if (!isEnd(row.status)) return [violation(`it was removed while it was ${row.status}`, id, at)];
    const livedMs = at - (row.completedAt ?? at);
    if (livedMs >= FLEETING.lifeMs - CLOCK_MS) return [];
    return [violation(`it was removed ${Math.round(livedMs)} ms after its end`, id, at)];
  });
  const late = rest.tasks.flatMap((row): Violation[] => {
    const goneAt = Math.max(calmAt, (row.completedAt ?? rest.at) + FLEETING.lifeMs) + LATE_MS;
    if (!isFleeting({ row }, stories) || goneAt > rest.at) return [];
    return [violation("it is still there, and its life is over", row.id, rest.at)];
  });
  return [...early, ...late];
}

export function isFleeting({ row }: Pick<TaskChange, "row">, stories: Stories): boolean {
  return stories.queueStates(row.queueId).some(({ queue }) => queue.name === FLEETING.queue);
}
