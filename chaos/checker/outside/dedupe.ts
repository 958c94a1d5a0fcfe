import type { History } from "../history.ts";
import type { Violation } from "../violation.ts";
import { groupBy, type OutsideTask } from "./tasks.ts";

/** Runner and database read one clock, and each rounds it in its own way. */
const CLOCK_MS = 5;

/** A key starts one task within its window, and the first request after it is not refused. */
export function checkDedupe({ answers }: History, tasks: readonly OutsideTask[]): Violation[] {
  const refused = answers.flatMap(({ at, wish, createdAt, taskId, status, carried }): Violation[] => {
    const isJoined = status === 200 && carried === null && createdAt !== undefined;
    if (wish?.dedupe == null || !isJoined || at <= createdAt + wish.dedupe.windowMs + CLOCK_MS) return [];
    const text = `a request with key ${wish.dedupe.key} was joined to it ${at - createdAt} ms after its creation`;
    return [{ promise: "dedupe", text, taskId, at }];
  });
  const together = [...groupBy(tasks, ({ wish }) => wish.dedupe?.key ?? null)].flatMap(([key, same]) => {
    const inOrder = same.map(lifeOf).sort((one, other) => one.from - other.from);
    return inOrder.slice(1).flatMap((life, index): Violation[] => {
      const before = inOrder[index];
      if (before === undefined) return [];
      // Of one whose creation got no answer, nobody knows when it was: it may be the later one.
      const apartMs = Math.max(life.to - before.from, before.to - life.from);
      if (apartMs >= before.windowMs - CLOCK_MS) return [];
      const text = `key ${key} started it within the window of ${before.id}`;
      return [{ promise: "dedupe", text, taskId: life.id, at: life.to }];
    });
  });
  return [...refused, ...together];
}

/** When it was created: as its record says, or between its request and its first call. */
function lifeOf({ id, createdAt, sentAt, calls, wish }: OutsideTask) {
  const to = createdAt ?? calls[0]?.begunAt ?? Number.POSITIVE_INFINITY;
  return { id, from: createdAt ?? sentAt, to, windowMs: wish.dedupe?.windowMs ?? 0 };
}
