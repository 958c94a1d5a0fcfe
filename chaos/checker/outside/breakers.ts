import type { Fault, History } from "../history.ts";
import type { Violation } from "../violation.ts";
import { groupBy, limitsOf, type OutsideTask } from "./tasks.ts";
import type { BreakerView, Limits, Spell } from "./wishes.ts";

/** A claim that was decided before the breaker opened may begin its call so much later; with a fault near, as late as any call may. */
const CLAIM_MS = 1_500;
const CLAIM_IN_FAULT_MS = 6_000;
/** After the attempt that opens it a breaker is seen to be open within this time. */
const OPENS_MS = 3_000;
const CLOCK_MS = 20;

/** While a breaker is open its host is not called; one opens for a host that fails, and none is left open when it answers again. */
export function checkBreakers(history: History, tasks: readonly OutsideTask[]): Violation[] {
  const { spells = [], breakers: views = [] } = history;
  const limits = limitsOf(history);
  const byQueue = groupBy(tasks, ({ queue }) => (limits.get(queue)?.breaker == null ? null : queue));
  const last = views.at(-1);
  const isCalm = last !== undefined && last.at > history.calmAt;
  return [
    ...[...byQueue].flatMap(([queue, members]) => checkQuiet(queue, members, history, views)),
    ...spells.flatMap((spell) => {
      const limit = limits.get(spell.queue);
      const members = byQueue.get(spell.queue) ?? [];
      return limit === undefined ? [] : checkOpening(spell, limit, members, history.faults, views);
    }),
    ...(isCalm ? last.held : []).map(({ queue, state }): Violation => {
      const text = `the breaker of queue ${queue} is ${state} at the end, when its host answers again`;
      return { promise: "breaker", text, taskId: null, at: last?.at ?? null };
    }),
  ];
}

/** From what the API said until the time that it named, but for what was claimed before. */
function checkQuiet(
  queue: string,
  tasks: readonly OutsideTask[],
  { faults }: History,
  views: readonly BreakerView[],
): Violation[] {
  const calls = tasks.flatMap((task) => task.calls);
  return views.flatMap(({ endedAt, held }) =>
    held
      .filter((breaker) => breaker.queue === queue && breaker.state === "open")
      .flatMap(({ openedAt, until }) => {
        const isNear = faults.some(({ from, to }) => from <= until && to >= openedAt - CLAIM_IN_FAULT_MS);
        const from = Math.max(endedAt, openedAt + (isNear ? CLAIM_IN_FAULT_MS : CLAIM_MS));
        return calls
          .filter(({ begunAt }) => begunAt > from && begunAt < until - CLOCK_MS)
          .map(({ taskId, begunAt }): Violation => {
            const text = `called ${until - begunAt} ms before the breaker of queue ${queue} lets one through`;
            return { promise: "breaker", text, taskId, at: begunAt };
          });
      }),
  );
}

/** Failures that a node did not live to count are not missed: each fault may have cost as many as there are places. */
function checkOpening(
  { queue, from, to }: Spell,
  { breaker, concurrency }: Limits,
  tasks: readonly OutsideTask[],
  faults: readonly Fault[],
  views: readonly BreakerView[],
): Violation[] {
  const near = faults.filter((fault) => fault.from <= to && fault.to >= from).length;
  const failed = tasks
    .flatMap((task) => task.calls)
    .flatMap(({ begunAt, endedAt }) =>
      begunAt >= from && endedAt !== null && endedAt <= to ? [endedAt] : [],
    )
    .sort((one, other) => one - other);
  const openedAt = failed[(breaker?.failures ?? 1) + near * concurrency - 1];
  if (openedAt === undefined) return [];
  const after = views.filter(({ at, endedAt }) => at > openedAt + OPENS_MS && endedAt < to);
  if (after.length === 0 || after.some(({ held }) => held.some((each) => each.queue === queue))) return [];
  const text = `${failed.length} calls of queue ${queue} failed, and its breaker did not open`;
  return [{ promise: "breaker", text, taskId: null, at: openedAt }];
}
