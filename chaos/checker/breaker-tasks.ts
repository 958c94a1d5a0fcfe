import { nameOf } from "./breakers.ts";
import { isOpenAt } from "./calls.ts";
import { recoveredAt } from "./faults.ts";
import type { History, Seen } from "./history.ts";
import type { AttemptRecord, BreakerChange, BreakerRow, Change, QueueRow, TaskRow } from "./rows.ts";
import type { Stories } from "./stories.ts";
import type { Violation } from "./violation.ts";

/** The count of an attempt has the time at which its transaction began, rounded up to a sixtieth of the window. */
const SETTLE_MS = 3_000;
/** A worker counts successes together. If the count fails, successes since then are counted with the next one. */
const LATE_MS = 10_000;
/** A task of a host that no breaker holds starts within this time: a node that does not know of it looks every 5 s, or has slots to take. */
const FOUND_MS = 6_500;
/** One that waits for a host gets its pass within a round of the breakers of an idle node. */
const PASS_MS = 7_500;

/** A host of a queue, as the rows show it. */
interface Host {
  breaker: BreakerRow | null;
  /** When the breaker, or a call to the host, last changed. */
  changedAt: number;
  /** The attempts since the breaker last changed, and earlier successes. */
  settled: Ended[];
  /** The last attempt that says something of the host. */
  last: Ended | null;
}

/** An attempt, when it was settled. */
interface Ended {
  readonly at: number;
  readonly beganAt: number;
  readonly isDown: boolean;
}

interface Task {
  readonly row: TaskRow;
  readonly changedAt: number;
}

interface Queue {
  row: QueueRow;
  changedAt: number;
  /** When its circuit breaker was set. */
  breakerAt: number;
  slotAt: number;
  readonly tasks: Map<string, Task>;
}

/**
 * By the rows: a breaker opens with the attempt that reaches its figures, and no task waits that may start, for its own host or for
 * another one.
 */
export function checkBreakerTasks(history: History): Violation[] {
  const changes = [...history.changes].sort((one, other) => one.seq - other.seq);
  const watched = new Set(
    changes.flatMap(({ relation, row }) =>
      relation === "queues" && "breaker" in row && row.breaker != null ? [row.id] : [],
    ),
  );
  if (watched.size === 0) return [];
  const opened = new Set(
    changes.flatMap((change) =>
      change.relation === "breakers" && change.row.phase === "open"
        ? [`${nameOf(change.row)} ${change.committedAt}`]
        : [],
    ),
  );
  const queues = new Map<number, Queue>();
  const hosts = new Map<string, Host>();
  const hostAt = (row: Pick<TaskRow, "queueId" | "host">): Host => {
    const known = hosts.get(nameOf(row)) ?? { breaker: null, changedAt: 0, settled: [], last: null };
    hosts.set(nameOf(row), known);
    return known;
  };
  const late = new Set<string>();
  const look = (at: number): Violation[] =>
    [...queues.values()].flatMap((queue) =>
      waitingIn(queue, hosts, at, history).flatMap((found) => {
        if (late.has(found.taskId ?? "")) return [];
        late.add(found.taskId ?? "");
        return found;
      }),
    );
  const violations = changes.flatMap((change): Violation[] => {
    const { committedAt: at } = change;
    if (change.relation === "queues" && watched.has(change.row.id)) {
      const found = look(at);
      noteQueue(queues, change.row, at);
      return found;
    }
    if (change.relation === "breakers") {
      const found = look(at);
      const host = hostAt(change.row);
      const text = whyChanged(host, change, history);
      const breaker = change.op === "delete" ? null : change.row;
      // A success is counted up to a second later, and then after the change.
      Object.assign(host, { breaker, changedAt: at, settled: host.settled.filter(({ isDown }) => !isDown) });
      return text === null ? found : [...found, { promise: "breaker", text, taskId: null, at }];
    }
    const queue = change.relation === "tasks" ? queues.get(change.row.queueId) : undefined;
    if (change.relation !== "tasks" || queue === undefined) return [];
    const found = look(at);
    const text = noteTask(queue, hostAt(change.row), change, opened);
    return text === null ? found : [...found, { promise: "breaker", text, taskId: change.row.id, at }];
  });
  return [...violations, ...look(history.endedAt)];
}

function noteQueue(queues: Map<number, Queue>, row: QueueRow, at: number): void {
  const known = queues.get(row.id);
  const isSame = JSON.stringify(known?.row.breaker) === JSON.stringify(row.breaker);
  queues.set(row.id, {
    ...{ row, changedAt: at, slotAt: known?.slotAt ?? at, tasks: known?.tasks ?? new Map() },
    breakerAt: known !== undefined && isSame ? known.breakerAt : at,
  });
}

function noteTask(
  queue: Queue,
  host: Host,
  { row, op, committedAt: at }: Extract<Change, { relation: "tasks" }>,
  opened: ReadonlySet<string>,
): string | null {
  const before = queue.tasks.get(row.id)?.row;
  if (op === "delete") queue.tasks.delete(row.id);
  else queue.tasks.set(row.id, { row, changedAt: at });
  const wasActive = before?.status === "active";
  if (wasActive !== (row.status === "active" && op !== "delete")) host.changedAt = at;
  if (!wasActive || row.status === "active") return null;
  queue.slotAt = at;
  const isDown = stateOf(row.attempts.find(({ number }) => number === before.attemptCount));
  const beganAt = before.attemptStartedAt ?? 0;
  if (isDown === null || beganAt < (host.breaker?.until ?? 0)) return null;
  host.last = { at, beganAt, isDown };
  host.settled.push({ at, beganAt, isDown });
  const isKnown = beganAt > queue.breakerAt && !queue.row.deleted;
  return isKnown && isDown && host.breaker?.phase !== "open" ? whyOpen(queue, host, row, at, opened) : null;
}

/** An open breaker changes by the answer to a probe, in the same commit, or by a request. */
function whyChanged({ breaker, last }: Host, { row, op, committedAt: at }: BreakerChange, history: History) {
  if (breaker?.phase !== "open" || op === "delete") return null;
  const isAnswer = last !== null && last.at === at && last.isDown === (row.phase === "open");
  const isAsked = history.answers.some(
    ({ action, at: sentAt, endedAt, status }) =>
      action === "limit" && sentAt <= at && (status === null || at <= endedAt),
  );
  return isAnswer || (isAsked && row.phase !== "open")
    ? null
    : `the breaker of ${row.host} became ${row.phase}, and no probe had shown it`;
}

/** Whether the host failed; null: the attempt says nothing of it. */
function stateOf(record: AttemptRecord | undefined): boolean | null {
  if (record === undefined || record.phase === "not_sent") return null;
  if (record.status === "success") return false;
  if (record.status !== "failed" && record.status !== "timeout") return null;
  return record.code === null || record.code >= 500;
}

/** What is counted for certain, against all that may be. */
function whyOpen(
  { row: { breaker }, breakerAt }: Queue,
  { settled }: Host,
  task: TaskRow,
  at: number,
  opened: ReadonlySet<string>,
): string | null {
  if (breaker == null || opened.has(`${nameOf(task)} ${at}`)) return null;
  const withinMs = breaker.within * 1_000;
  const slackMs = withinMs / 60 + SETTLE_MS;
  // The worker of each knew the breaker.
  const known = settled.filter(({ isDown, beganAt }) => isDown && beganAt > breakerAt);
  const failed = known.filter((each) => each.at > at - withinMs + slackMs).length;
  const total = settled.filter(
    (each) => each.at > at - withinMs - slackMs - (each.isDown ? 0 : LATE_MS),
  ).length;
  if (failed < breaker.failures || failed < breaker.ratio * total) return null;
  return `${failed} of ${total} attempts failed within ${breaker.within} s, and the breaker of ${task.host} did not open`;
}

function waitingIn(
  { row, changedAt, slotAt, tasks }: Queue,
  hosts: ReadonlyMap<string, Host>,
  at: number,
  { faults }: History,
): Violation[] {
  if (row.breaker == null || row.paused || row.deleted || row.ordered || row.rate != null) return [];
  const all = [...tasks.values()];
  const active = all.filter((task) => task.row.status === "active");
  if (active.length >= row.concurrency) return [];
  const known = Math.max(changedAt, slotAt);
  if (at - known <= FOUND_MS) return [];
  const excusedAt = recoveredAt(faults.filter(({ from }) => from <= at));
  const firsts = new Map<string, { readonly row: TaskRow; readonly dueAt: number }>();
  for (const task of all) {
    if (!isPlain(task.row)) continue;
    const dueAt = Math.max(task.row.runAt, task.changedAt);
    const name = nameOf(task.row);
    const first = firsts.get(name);
    if (first === undefined || dueAt < first.dueAt) firsts.set(name, { row: task.row, dueAt });
  }
  return [...firsts].flatMap(([name, first]): Violation[] => {
    const { breaker = null, changedAt: hostChangedAt = 0 } = hosts.get(name) ?? {};
    const isHeld = breaker !== null;
    // Its breaker waits for the answer.
    if (isHeld && active.some((task) => nameOf(task.row) === name)) return [];
    const since = Math.max(
      ...[known, excusedAt, first.dueAt],
      isHeld ? Math.max(hostChangedAt, breaker.until) : 0,
    );
    if (at - since <= (isHeld ? PASS_MS : FOUND_MS)) return [];
    const text = `it was due, with a slot, and nothing to its host started in ${Math.round(at - since)} ms`;
    return [{ promise: "waiting", text, taskId: first.row.id, at }];
  });
}

/** Neither its flow nor its deadline has a say. */
function isPlain({ status, flow, deadlineAt }: TaskRow): boolean {
  return status === "pending" && flow == null && deadlineAt === null;
}

/** By the calls: while a breaker is open one task at a time calls its host, from its begin to its end. */
export function checkProbes(history: History, stories: Stories): Violation[] {
  return openSpans(history).flatMap(({ name, from, to }) => {
    const probes = stories.all
      .flatMap(({ calls }) => calls)
      .filter((call) => {
        const claim = stories.claimOf(call);
        const { last } = stories.find(call.taskId);
        const isOfHost =
          claim !== null && last !== null && nameOf({ ...last, queueId: claim.queueId }) === name;
        return isOfHost && claim.committedAt > from && call.begunAt < to;
      })
      .sort((one, other) => one.begunAt - other.begunAt);
    return probes.flatMap((call, index): Violation[] => {
      const before = probes[index - 1];
      if (before === undefined || !isOpenAt(before, call.begunAt, stories)) return [];
      if (wasTaken(before, stories)) return [];
      const text = `it was called while the call of ${before.taskId}, the probe of the same host, was in flight`;
      return [{ promise: "breaker", text, taskId: call.taskId, at: call.begunAt }];
    });
  });
}

/** The attempt ended before its call: it was cancelled, or its worker was lost. */
function wasTaken({ taskId, attempt }: Seen, stories: Stories): boolean {
  const { last } = stories.find(taskId);
  const record = last?.attempts.find(({ number }) => number === attempt);
  return record === undefined || ["aborted", "interrupted", "superseded"].includes(record.status);
}

function openSpans({ changes }: History) {
  const open = new Map<string, number>();
  const spans: { readonly name: string; readonly from: number; readonly to: number }[] = [];
  for (const change of [...changes].sort((one, other) => one.seq - other.seq)) {
    if (change.relation !== "breakers") continue;
    const name = nameOf(change.row);
    const from = open.get(name);
    const isOpen = change.op !== "delete" && change.row.phase === "open";
    if (isOpen && from === undefined) open.set(name, change.committedAt);
    if (isOpen || from === undefined) continue;
    open.delete(name);
    spans.push({ name, from, to: change.committedAt });
  }
  return [...spans, ...[...open].map(([name, from]) => ({ name, from, to: Number.POSITIVE_INFINITY }))];
}
