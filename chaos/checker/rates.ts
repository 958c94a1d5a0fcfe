import { recoveredAt } from "./faults.ts";
import { begunAt, checkWindows } from "./flows.ts";
import type { Fault, History, Seen } from "./history.ts";
import type { QueueChange, QueueRow, TaskChange, TaskRow } from "./rows.ts";
import type { Stories } from "./stories.ts";
import type { Violation } from "./violation.ts";

/** A claim counts from up to this time after it was made, rounded up to a thousandth of the period. */
const PERMIT_MS = 100;
/** Within this time of the permit that it waits for, the next task starts: a claim, and one more when rows were locked. */
const WAIT_MS = 1_500;
/** How long the database keeps the slots of a worker that does not renew its lease. */
const LEASE_MS = 15_000;

/** A time in which a queue had one rate. */
interface Span {
  readonly queueId: number;
  readonly from: number;
  readonly to: number;
  readonly rate: number;
  readonly periodMs: number;
}

/**
 * The rate of queues. While it does not change, no period has more claims, by the rows, and no more begun calls, by what targets
 * saw; and no task that is due waits while there is a permit and a slot for it.
 */
export function checkRates(history: History, stories: Stories): Violation[] {
  const changes = [...history.changes].sort((one, other) => one.seq - other.seq);
  const queues = changes.filter((change) => change.relation === "queues");
  const tasks = changes.filter((change) => change.relation === "tasks");
  return spansOf(queues).flatMap((span) => [
    ...checkClaims(span, tasks),
    ...checkCalls(span, stories),
    ...checkWaits(
      span,
      [...queues, ...tasks].sort((one, other) => one.seq - other.seq),
      history,
    ),
  ]);
}

function spansOf(changes: readonly QueueChange[]): Span[] {
  const spans: Span[] = [];
  const last = new Map<number, { row: QueueRow; from: number }>();
  const close = (queueId: number, to: number) => {
    const known = last.get(queueId);
    const { rate, ratePeriod } = known?.row ?? {};
    if (known === undefined || rate == null || ratePeriod == null) return;
    spans.push({ queueId, from: known.from, to, rate, periodMs: ratePeriod * 1_000 });
  };
  for (const { row, committedAt } of changes) {
    const known = last.get(row.id)?.row;
    if (known !== undefined && known.rate === row.rate && known.ratePeriod === row.ratePeriod) continue;
    close(row.id, committedAt);
    last.set(row.id, { row, from: committedAt });
  }
  for (const queueId of last.keys()) close(queueId, Number.POSITIVE_INFINITY);
  return spans;
}

function isStart({ op, row }: TaskChange, claimed: ReadonlyMap<string, number>): boolean {
  return op !== "delete" && row.status === "active" && row.attemptCount > (claimed.get(row.id) ?? 0);
}

/** By the rows, to the millisecond: a claim was made between the time in its row and its commit. */
function checkClaims(span: Span, changes: readonly TaskChange[]): Violation[] {
  const begun = new Map<string, number>();
  const claims: { readonly madeAt: number; readonly committedAt: number }[] = [];
  return changes.flatMap((change): Violation[] => {
    const { row, committedAt: at } = change;
    const isOne = isStart(change, begun);
    begun.set(row.id, row.attemptCount);
    const madeAt = row.attemptStartedAt ?? null;
    if (!isOne || row.queueId !== span.queueId || madeAt === null || madeAt < span.from || at > span.to)
      return [];
    const counted = claims.filter((claim) => claim.madeAt > at - span.periodMs).length;
    claims.push({ madeAt, committedAt: at });
    if (counted < span.rate) return [];
    const text = `${counted + 1} claims within ${span.periodMs} ms in a queue that may begin ${span.rate}`;
    return [{ promise: "H", text, taskId: row.id, at }];
  });
}

function checkCalls({ queueId, from, to, rate, periodMs }: Span, stories: Stories): Violation[] {
  const isIn = (call: Seen) => {
    const claim = stories.claimOf(call);
    return claim?.queueId === queueId && claim.committedAt > from && begunAt(call, stories) < to;
  };
  return checkWindows(
    stories.all.flatMap(({ calls }) => calls.filter(isIn)),
    rate,
    periodMs,
    stories,
  );
}

/** Each start with what was known just before it: the task that it could have started waited from the latest of these times on. */
function checkWaits(
  span: Span,
  changes: readonly (QueueChange | TaskChange)[],
  history: History,
): Violation[] {
  const tasks = new Map<string, { row: TaskRow; changedAt: number }>();
  const begun = new Map<string, number>();
  const claimsAt: number[] = [];
  let queue: QueueRow | null = null;
  let queueAt = 0;
  let slotAt = 0;
  let active = 0;
  const violations: Violation[] = [];
  const look = (at: number) => {
    if (queue === null || queue.paused || queue.deleted || queue.ordered || active >= queue.concurrency)
      return;
    const waiting = [...tasks.values()]
      .filter(({ row }) => isPlain(row))
      .map(({ row, changedAt }) => ({ row, dueAt: Math.max(row.runAt, changedAt) }));
    const [first] = waiting.sort((one, other) => one.dueAt - other.dueAt);
    const oldest = claimsAt.at(-span.rate);
    const permitAt = oldest === undefined ? 0 : oldest + span.periodMs * 1.001 + PERMIT_MS;
    if (first === undefined) return;
    const crowdedAt = Math.max(0, ...history.crowded.filter(({ from }) => from <= at).map(({ to }) => to));
    const excusedAt = Math.max(lastFault(history.faults, at), crowdedAt);
    const since = Math.max(span.from, queueAt, slotAt, first.dueAt, permitAt, excusedAt);
    if (at - since <= WAIT_MS) return;
    const text = `it was due, with a slot and a permit, and nothing started in ${Math.round(at - since)} ms`;
    violations.push({ promise: "waiting", text, taskId: first.row.id, at });
  };
  for (const change of changes) {
    const { committedAt: at } = change;
    if (change.relation === "queues") {
      if (change.row.id !== span.queueId) continue;
      queue = change.row;
      queueAt = at;
      continue;
    }
    const { row, op } = change;
    if (row.queueId !== span.queueId) continue;
    if (isStart(change, begun)) {
      if (at > span.from && at < span.to) look(at);
      claimsAt.push(at);
    }
    begun.set(row.id, row.attemptCount);
    const before = active;
    active +=
      Number(op !== "delete" && row.status === "active") - Number(tasks.get(row.id)?.row.status === "active");
    if (queue !== null && active < before) slotAt = at;
    if (op === "delete") tasks.delete(row.id);
    else tasks.set(row.id, { row, changedAt: at });
  }
  if (span.to === Number.POSITIVE_INFINITY) look(history.endedAt);
  return violations;
}

/** Neither its flow nor its deadline has a say. */
function isPlain({ status, flow, deadlineAt }: TaskRow): boolean {
  return status === "pending" && flow == null && deadlineAt === null;
}

/**
 * When the last fault that may still matter at this time was over. If the answer to a registration
 * after the fault was lost, the worker that it made keeps its slots until its lease ends.
 */
function lastFault(faults: readonly Fault[], at: number): number {
  const earlier = faults.filter(({ from }) => from <= at);
  return earlier.length === 0 ? 0 : recoveredAt(earlier) + LEASE_MS;
}
