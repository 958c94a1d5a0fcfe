import type { History } from "./history.ts";
import type { BreakerChange, BreakerRow, TaskChange } from "./rows.ts";
import type { Violation } from "./violation.ts";

/** A change of the breaker and a claim may commit in either order within this time. */
const COMMIT_MS = 50;
/** The database decides what is due and notes when it was committed, by one clock. */
const CLOCK_MS = 5;

interface Held {
  readonly change: BreakerChange;
  /** When it opened, or opened again after its host had answered. */
  readonly since: number;
  /** What has begun since and is still under way. */
  readonly probes: Set<string>;
}

/** By the rows: while a breaker is open nothing of its queue and host begins before its time, and from then on one task at a time. */
export function checkBreakerRows({ changes }: History): Violation[] {
  const held = new Map<string, Held>();
  const begun = new Map<string, number>();
  return [...changes]
    .sort((one, other) => one.seq - other.seq)
    .flatMap((change): Violation[] => {
      if (change.relation === "breakers") note(held, change);
      if (change.relation !== "tasks") return [];
      const { op, row, committedAt: at } = change;
      const isStart = op !== "delete" && row.attemptCount > (begun.get(row.id) ?? 0);
      begun.set(row.id, row.attemptCount);
      const breaker = held.get(nameOf(row));
      if (breaker === undefined) return [];
      const text = isStart ? whyNot(breaker, change) : null;
      if (isStart) breaker.probes.add(row.id);
      if (op === "delete" || row.status !== "active") breaker.probes.delete(row.id);
      return text === null ? [] : [{ promise: "breaker", text, taskId: row.id, at }];
    });
}

/** Of a queue and host. */
export function nameOf({ queueId, host = "" }: Pick<BreakerRow, "queueId" | "host">): string {
  return `${queueId} ${host}`;
}

function note(held: Map<string, Held>, change: BreakerChange): void {
  const { row, op, committedAt } = change;
  const name = nameOf(row);
  if (op === "delete" || row.phase !== "open") {
    held.delete(name);
    return;
  }
  const known = held.get(name);
  held.set(name, {
    change,
    since: known?.since ?? committedAt,
    probes: known?.probes ?? new Set(),
  });
}

function whyNot({ change, since, probes }: Held, { committedAt: at }: TaskChange): string | null {
  if (at <= since + COMMIT_MS) return null;
  if (at < change.row.until - CLOCK_MS)
    return `it began ${Math.round(change.row.until - at)} ms before the breaker of its queue lets one through`;
  const [other] = probes;
  return other === undefined ? null : `it began while ${other} was the probe of the breaker of its queue`;
}
