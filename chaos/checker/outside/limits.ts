import type { History, Seen } from "../history.ts";
import type { PromiseName, Violation } from "../violation.ts";
import { isBlurred, isOpenAt } from "./frozen.ts";
import { groupBy, limitsOf, type OutsideTask } from "./tasks.ts";

/** A target may learn of two calls later than they began, by different times. */
const ARRIVAL_MS = 500;

interface Limit {
  readonly promise: PromiseName;
  readonly what: string;
  readonly concurrency: number;
  readonly rate: { readonly calls: number; readonly periodMs: number } | null;
}

/** Promises E and H by the calls that targets saw: no more under way than a queue or flow allows, nor begun within its period. */
export function checkLimits(history: History, tasks: readonly OutsideTask[]): Violation[] {
  const limits = limitsOf(history);
  const queues = [...groupBy(tasks, ({ queue }) => queue)].flatMap(([queue, members]) => {
    const { concurrency, rate } = limits.get(queue) ?? {};
    if (concurrency === undefined || rate === undefined) return [];
    return checkLimit({ promise: "E", what: `queue ${queue}`, concurrency, rate }, members, history);
  });
  const flows = [...groupBy(tasks, ({ wish, queue }) => limitedFlow(wish.flow, queue))].flatMap(
    ([key, members]) => {
      const [, concurrency, calls, period] = /c(\d+)(?:-r(\d+)-p(\d+))?$/.exec(key) ?? [];
      const rate = calls === undefined ? null : { calls: Number(calls), periodMs: Number(period) * 1_000 };
      const limit = { promise: "H", what: `flow ${key}`, concurrency: Number(concurrency), rate } as const;
      return checkLimit(limit, members, history);
    },
  );
  return [...queues, ...flows];
}

/** Two teams may have flows of one key. */
function limitedFlow(flow: string | null, queue: string): string | null {
  if (flow === null || !/^c\d/.test(flow)) return null;
  return queue === "neighbour" ? `neighbour ${flow}` : flow;
}

function checkLimit(limit: Limit, tasks: readonly OutsideTask[], history: History): Violation[] {
  const calls = tasks.flatMap((task) => task.calls).sort((one, other) => one.begunAt - other.begunAt);
  return [...checkPlaces(limit, calls, history), ...checkRate(limit, calls, history)];
}

function checkPlaces(
  { promise, what, concurrency }: Limit,
  calls: readonly Seen[],
  history: History,
): Violation[] {
  let open: Seen[] = [];
  return calls.flatMap((call): Violation[] => {
    open = open.filter(({ endedAt }) => endedAt === null || endedAt > call.begunAt);
    const inFlight = open.filter((other) => isOpenAt(other, call.begunAt, history));
    open.push(call);
    if (inFlight.length < concurrency) return [];
    const text = `${inFlight.length + 1} calls in flight in ${what}, which has ${concurrency} places`;
    return [{ promise, text, taskId: call.taskId, at: call.begunAt }];
  });
}

function checkRate({ what, rate }: Limit, calls: readonly Seen[], history: History): Violation[] {
  if (rate === null) return [];
  const clear = calls.filter((call) => !isBlurred(call, history));
  return clear.flatMap((call, index): Violation[] => {
    const first = clear[index - rate.calls];
    if (first === undefined || call.begunAt - first.begunAt >= rate.periodMs - ARRIVAL_MS) return [];
    const text = `${rate.calls + 1} calls of ${what} began within ${call.begunAt - first.begunAt} ms, and ${rate.calls} may in ${rate.periodMs}`;
    return [{ promise: "H", text, taskId: call.taskId, at: call.begunAt }];
  });
}
