import { isOpenAt } from "./calls.ts";
import type { Seen } from "./history.ts";
import type { Stories } from "./stories.ts";
import type { Violation } from "./violation.ts";

/** A target may learn of two calls later than they began, by different times. */
const ARRIVAL_MS = 500;
/** A call begins within this time after its claim, or not at all; a process that is frozen then lets it leave later. */
const PERMIT_MS = 100;

/** The key of a flow in these runs says its limits: 2 calls at once, 3 in any 5 seconds. */
export function flowKey(concurrency: number, rate: number | null, period: number | null): string {
  return rate === null ? `c${concurrency}` : `c${concurrency}-r${rate}-p${period}`;
}

/** The key of a flow without limits: its tasks wait for nothing but a slot of their queue. */
export function freeKey(number: number): string {
  return `free-${number}`;
}

export function isFree(flow: string | null): boolean {
  return flow === null || flow.startsWith("free-");
}

/** Promise H, counted from what targets saw: no flow has more calls under way, or begun in its period, than it may. */
export function checkFlows(stories: Stories): Violation[] {
  const byFlow = new Map<string, Seen[]>();
  for (const { last, changes, calls } of stories.all) {
    const row = last ?? changes.at(-1)?.row;
    if (row?.flow == null) continue;
    const name = `${row.teamId} ${row.flow}`;
    byFlow.set(name, [...(byFlow.get(name) ?? []), ...calls]);
  }
  return [...byFlow].flatMap(([name, calls]) => {
    const [, concurrency, rate, period] = / c(\d+)(?:-r(\d+)-p(\d+))?$/.exec(name) ?? [];
    if (concurrency === undefined) return [];
    const sorted = calls.sort((one, other) => one.begunAt - other.begunAt);
    return [
      ...checkPlaces(sorted, Number(concurrency), stories),
      ...(rate === undefined ? [] : checkWindows(sorted, Number(rate), Number(period) * 1_000, stories)),
    ];
  });
}

function checkPlaces(calls: readonly Seen[], concurrency: number, stories: Stories): Violation[] {
  return calls.flatMap((call, index): Violation[] => {
    const inFlight = calls.slice(0, index).filter((other) => isOpenAt(other, call.begunAt, stories));
    if (inFlight.length < concurrency) return [];
    const text = `${inFlight.length + 1} calls in flight in a flow of ${concurrency}`;
    return [{ promise: "H", text, taskId: call.taskId, at: call.begunAt }];
  });
}

export function checkWindows(
  calls: readonly Seen[],
  rate: number,
  periodMs: number,
  stories: Stories,
): Violation[] {
  const begun = calls
    .map((call) => ({ call, at: begunAt(call, stories) }))
    .sort((one, other) => one.at - other.at);
  return begun.flatMap(({ call, at }, index): Violation[] => {
    const first = begun[index - rate];
    if (first === undefined || at - first.at >= periodMs - ARRIVAL_MS) return [];
    const text = `${rate + 1} calls of a flow began within ${(at - first.at).toFixed(0)} ms, and ${rate} may in ${periodMs}`;
    return [{ promise: "H", text, taskId: call.taskId, at: call.begunAt }];
  });
}

export function begunAt(call: Seen, stories: Stories): number {
  const claimedAt = stories.claimOf(call)?.committedAt ?? Number.POSITIVE_INFINITY;
  return Math.min(call.begunAt, claimedAt + PERMIT_MS);
}
