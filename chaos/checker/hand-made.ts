import { check } from "./check.ts";
import type { Answer, Fault, History, Life, Rest, Seen } from "./history.ts";
import type { AttemptRecord, BreakerRow, BulkRow, Change, QueueRow, TaskRow } from "./rows.ts";
import type { PromiseName } from "./violation.ts";

/** Histories by hand, for the tests of the checker. The clock starts at 0; one task lives in queue 1, of worker 1. */

export const PID = 4711;

export function row(changes: Partial<TaskRow> = {}): TaskRow {
  return {
    id: "t",
    teamId: 1,
    queueId: 1,
    status: "pending",
    priority: 5,
    fence: 0,
    workerId: null,
    attemptCount: 0,
    attempts: [],
    runAt: 0,
    createdAt: 0,
    deadlineAt: null,
    hasNotification: false,
    idempotencyKey: null,
    failureReason: null,
    retries: 0,
    ...changes,
  };
}

export function attempt(changes: Partial<AttemptRecord> = {}): AttemptRecord {
  return { number: 1, status: "success", code: 200, phase: "responded", ...changes };
}

type Op = Change["op"];

export function taskChange(committedAt: number, changes: Partial<TaskRow>, op: Op = "update"): Change {
  return { seq: 0, committedAt, relation: "tasks", op, row: row(changes) };
}

const UNORDERED = { ordered: false, blocks: false };

export function queueChange(committedAt: number, changes: Partial<QueueRow>, op: Op = "update"): Change {
  const queue = { id: 1, name: "q", concurrency: 5, paused: false, ...UNORDERED, deleted: false, ...changes };
  return { seq: 0, committedAt, relation: "queues", op, row: queue };
}

export function scheduleChange(
  committedAt: number,
  nextRunAt: number | null,
  op: Op = "update",
  skips = false,
): Change {
  return { seq: 0, committedAt, relation: "schedules", op, row: { id: "s", nextRunAt, skips } };
}

export function firing(committedAt: number, firesAt: number | null, taskId: string): Change {
  const row = { scheduleId: "s", taskId, firesAt };
  return { seq: 0, committedAt, relation: "schedule_firings", op: "insert", row };
}

export function bulkChange(committedAt: number, changes: Partial<BulkRow>, op: Op = "update"): Change {
  const row: BulkRow = {
    id: "b",
    action: "retry",
    status: "running",
    matched: 1,
    done: 0,
    skipped: 0,
    ...changes,
  };
  return { seq: 0, committedAt, relation: "bulks", op, row };
}

export function breakerChange(committedAt: number, phase: BreakerRow["phase"], until: number): Change {
  return { seq: 0, committedAt, relation: "breakers", op: "update", row: { queueId: 1, phase, until } };
}

export function workerChange(committedAt: number, op: Op): Change {
  return { seq: 0, committedAt, relation: "workers", op, row: { id: 1, pid: PID } };
}

export function call(begunAt: number, endedAt: number | null, changes: Partial<Seen> = {}): Seen {
  const endedBy = endedAt === null ? null : "target";
  return {
    kind: "call",
    taskId: "t",
    attempt: 1,
    begunAt,
    endedAt,
    endedBy,
    status: 200,
    whole: "yes",
    says: null,
    nonces: [],
    value: null,
    ...changes,
  };
}

export function answer(action: Answer["action"], at: number, changes: Partial<Answer> = {}): Answer {
  const status = action === "create" ? 201 : 200;
  return {
    action,
    node: 1,
    at,
    endedAt: at + 10,
    status,
    failure: null,
    taskId: "t",
    queue: "q",
    carried: null,
    ...changes,
  };
}

export function fault(from: number, to: number, changes: Partial<Fault> = {}): Fault {
  return { kind: "kill", nodes: [1], from, to, detail: "", paused: [], ...changes };
}

export function life(changes: Partial<Life> = {}): Life {
  return {
    node: 1,
    pid: PID,
    startedAt: 0,
    readyAt: 500,
    askedAt: null,
    endedAt: null,
    killed: false,
    exitCode: null,
    ...changes,
  };
}

/** A task that is created, called once and completed, with everything as it should be. */
export const goodChanges = (changes: Partial<TaskRow> = {}): Change[] => [
  taskChange(1_000, changes, "insert"),
  taskChange(1_010, { ...changes, status: "active", fence: 1, workerId: 1, attemptCount: 1 }),
  taskChange(1_200, { ...changes, ...COMPLETED }),
];
export const COMPLETED: Partial<TaskRow> = {
  status: "completed",
  fence: 2,
  attemptCount: 1,
  attempts: [attempt()],
};

/** Of the good history everything that is not given. What is at rest follows from the changes, unless it is given. */
export function historyOf(
  parts: Partial<Omit<History, "rest">> & { readonly rest?: Partial<Rest> } = {},
): History {
  const changes = inOrder([
    queueChange(0, {}, "insert"),
    workerChange(1, "insert"),
    ...(parts.changes ?? goodChanges()),
  ]);
  return {
    answers: [answer("create", 995)],
    seen: [call(1_020, 1_100)],
    faults: [],
    lives: [life()],
    latencies: [],
    lags: [],
    readers: [],
    receivers: [],
    crowded: [],
    beganAt: 0,
    calmAt: 50_000,
    endedAt: 60_000,
    ...parts,
    changes,
    rest: {
      at: 55_000,
      tasks: rowsAtRest(changes),
      notifications: [],
      records: [],
      undelivered: [],
      stats: [],
      orderedQueueId: null,
      ...parts.rest,
    },
  };
}

/** Numbered as they were committed. */
function inOrder(changes: readonly Change[]): Change[] {
  const sorted = [...changes].sort((one, other) => one.committedAt - other.committedAt);
  return sorted.map((change, seq) => ({ ...change, seq }));
}

function rowsAtRest(changes: readonly Change[]): TaskRow[] {
  const rows = new Map<string, TaskRow>();
  for (const change of changes) {
    if (change.relation !== "tasks") continue;
    if (change.op === "delete") rows.delete(change.row.id);
    else rows.set(change.row.id, change.row);
  }
  return [...rows.values()];
}

/** Which promises are broken, each once. */
export function brokenIn(history: History): PromiseName[] {
  return [...new Set(check(history).map(({ promise }) => promise))];
}
