import { isFree } from "../flows.ts";
import type { History } from "../history.ts";
import type { Violation } from "../violation.ts";
import { isOpenAt } from "./frozen.ts";
import { groupBy, limitsOf, type OutsideTask } from "./tasks.ts";

/** Two requests that reach a target in one moment may be handled in either order. */
const EVENT_MS = 20;
/**
 * A call begins this long after its claim at most. Only what was stored before that has a right to go first; and what is called so
 * soon after may have been claimed before.
 */
const CLAIM_MS = 6_000;

/** Each line in the order of creation, each queue by priority, and nothing before it is due: by requests, answers and calls. */
export function checkTurns(history: History, tasks: readonly OutsideTask[]): Violation[] {
  const limits = limitsOf(history);
  const lines = groupBy(tasks, ({ queue, wish }) => {
    if (limits.get(queue)?.ordered === true) return `queue ${queue}`;
    return wish.flow?.startsWith("line-") === true
      ? `flow ${wish.flow} ${queue === "neighbour" ? queue : ""}`
      : null;
  });
  const ranked = groupBy(tasks, ({ queue }) => {
    const { ordered, rate } = limits.get(queue) ?? {};
    return ordered === false && rate === null ? queue : null;
  });
  return [
    ...tasks.flatMap(checkDelay),
    ...[...lines.values()].flatMap((line) => checkLine(line, history)),
    ...[...ranked.values()].flatMap(checkPriorities),
  ];
}

function checkDelay({ id, sentAt, wish, calls }: OutsideTask): Violation[] {
  const [first] = calls;
  const dueAt = sentAt + wish.delayMs;
  if (first === undefined || first.begunAt >= dueAt - EVENT_MS) return [];
  const text = `called ${dueAt - first.begunAt} ms before the delay that it was sent with was over`;
  return [{ promise: "order", text, taskId: id, at: first.begunAt }];
}

/** Of two tasks of which one was stored before the other was sent, the second begins when the first has ended. */
function checkLine(line: readonly OutsideTask[], history: History): Violation[] {
  const plain = line.filter(({ wish }) => wish.delayMs === 0);
  return plain.flatMap(({ id, sentAt, calls }): Violation[] => {
    const at = calls[0]?.begunAt;
    if (at === undefined) return [];
    const older = plain.filter(({ storedAt }) => storedAt < sentAt);
    const behind = older.find((other) => other.calls.some(({ begunAt }) => begunAt > at + EVENT_MS));
    const under = older.find((other) => other.calls.some((call) => isOpenAt(call, at, history)));
    if (behind === undefined && under === undefined) return [];
    const text =
      behind === undefined
        ? `called while ${under?.id} was, which is before it in its line`
        : `called before the last call of ${behind.id}, which is before it in its line`;
    return [{ promise: "line", text, taskId: id, at }];
  });
}

/** A task whose flow has no limits, or that has none, waits for nothing but a slot: no task of a lower priority starts before it. */
function checkPriorities(tasks: readonly OutsideTask[]): Violation[] {
  return tasks.flatMap(({ id, wish, calls }): Violation[] => {
    const at = calls[0]?.begunAt;
    if (at === undefined) return [];
    const better = tasks.find(
      (other) =>
        isFree(other.wish.flow) &&
        other.wish.priority > wish.priority &&
        other.storedAt + other.wish.delayMs + CLAIM_MS < at &&
        // An attempt before it may have been lost on its way: that was its turn.
        other.calls[0]?.attempt === 1 &&
        other.calls[0].begunAt > at + CLAIM_MS,
    );
    if (better === undefined) return [];
    const text = `called with priority ${wish.priority} before ${better.id} with ${better.wish.priority}, which was due for long`;
    return [{ promise: "order", text, taskId: id, at }];
  });
}
