import { type Statement, statement } from "../../packages/server/src/store/sql.ts";
import {
  type BreakerColumns,
  type BreakerTaskColumns,
  emptyTables,
  type QueueColumns,
  type RowChange,
  type Tables,
  type TaskColumns,
} from "./tables.ts";

/** A statement met a row that a transaction under way has changed: it waits, as it would in PostgreSQL. Thrown as it is. */
export class Blocked extends Error {}
const BLOCKED = new Blocked();

/** Bugs of the statements, put in on purpose. The same as those that `chaos/` plants into the SQL. */
export type StatementPlant =
  | "no-fence"
  | "all-slots"
  | "attempt-not-recorded"
  | "events-by-transaction"
  | "line-not-held"
  | "flow-line-not-held"
  | "no-places"
  | "no-permits"
  | "rate-not-counted"
  | "window-of-last"
  | "key-not-locked"
  | "called-task-replaced"
  | "counts-overwritten"
  | "hosts-not-held"
  | "passes-not-counted"
  | "pass-kept"
  | "other-hosts-held";

type Counted = "queues" | "workers" | "versions" | "notifications" | "events";

/** The database as a whole. */
export interface Model {
  readonly tables: Tables;
  readonly plant: StatementPlant | null;
  nowMs(): number;
  nextId(of: Counted): number;
  /** The last number that was given out. */
  lastId(of: Counted): number;
  readonly xids: Xids;
  /** Told of every change when it is committed. */
  readonly onChange: (change: RowChange) => void;
  readonly onNotify: (payload: string) => void;
  readonly locks: Map<string, Transaction>;
  /** To be tried again when a transaction has ended. */
  readonly waiting: (() => void)[];
}

/** The ids of transactions, which rise. */
export interface Xids {
  last: number;
  /** The greatest of those that have ended. */
  ended: number;
  /** Of transactions that are still open. */
  readonly open: Map<number, Transaction>;
}

/** Where the events of a statement begin. */
export interface EventPlace {
  readonly xid: number;
  nextSeq: number;
}

/** What one statement runs in. */
export interface Session {
  readonly model: Model;
  readonly tables: Tables;
  /** `now()`: in a transaction that of its begin. */
  readonly nowMs: number;
  /** `statement_timestamp()` and `clock_timestamp()`. */
  readonly clockMs: number;
  readonly transaction: Transaction | null;
}

/**
 * Of a transaction nothing is seen before its commit: what it writes is kept until then, and the rows that it is about to
 * change are locked. It reads what it wrote itself of queues, and of tables whose rows nobody else reads before the commit.
 */
export interface Transaction {
  beganMs: number;
  /** Drawn when it first locks or writes something. */
  xid: number | null;
  /** Has the lock that a statement takes before it writes events. */
  writesEvents: boolean;
  readonly locks: Set<string>;
  readonly writes: (() => void)[];
  /** What a rollback undoes, of writes that were made at once. */
  readonly undos: (() => void)[];
  /** The queues that it has inserted or changed, as they will be. */
  readonly queues: Map<number, QueueColumns>;
  /** The same of tasks with a deduplication key, settled tasks, and tasks that wait for a host. */
  readonly tasks: Map<string, TaskColumns>;
  /** The same of circuit breakers; null: removed. */
  readonly breakers: Map<string, BreakerColumns | null>;
  readonly breakerTasks: Map<string, BreakerTaskColumns | null>;
}

/** Something that the database did: a statement with its answer, or the end of a transaction. */
export interface Done {
  /** By the database's clock. */
  readonly atMs: number;
  /** The transaction that it belongs to; null: none. */
  readonly transaction: Transaction | null;
  readonly query: Statement;
  readonly values: readonly unknown[];
  readonly rows: readonly object[];
}

export const BEGIN = statement("begin", "begin");
export const COMMIT = statement("commit", "commit");
export const ROLLBACK = statement("rollback", "rollback");

/** Whether it ends the transaction that it is asked in. */
export function isEnd(query: Statement): boolean {
  return query === COMMIT || query === ROLLBACK;
}

export function createModel(options: {
  readonly nowMs: () => number;
  readonly plant?: StatementPlant | null;
  readonly onChange?: (change: RowChange) => void;
  readonly onNotify?: (payload: string) => void;
}): Model {
  const last = { queues: 0, workers: 0, versions: 0, notifications: 0, events: 0 };
  return {
    tables: emptyTables(),
    plant: options.plant ?? null,
    nowMs: options.nowMs,
    nextId(of) {
      last[of] += 1;
      return last[of];
    },
    lastId: (of) => last[of],
    onChange: options.onChange ?? (() => {}),
    onNotify: options.onNotify ?? (() => {}),
    xids: { last: 0, ended: 0, open: new Map() },
    locks: new Map(),
    waiting: [],
  };
}

export function beginTransaction(): Transaction {
  return {
    beganMs: 0,
    xid: null,
    writesEvents: false,
    locks: new Set(),
    writes: [],
    undos: [],
    queues: new Map(),
    tasks: new Map(),
    breakers: new Map(),
    breakerTasks: new Map(),
  };
}

/** That of the transaction; a statement without one has its own, which ends with it. */
export function xidOf({ model: { xids }, transaction }: Session): number {
  if (transaction !== null && transaction.xid !== null) return transaction.xid;
  xids.last += 1;
  if (transaction === null) xids.ended = xids.last;
  else {
    transaction.xid = xids.last;
    xids.open.set(xids.last, transaction);
  }
  return xids.last;
}

/** Where what this statement does stands among the events: `event_place()` of the store. */
export function eventPlace(session: Session): number {
  const { ended } = session.model.xids;
  const own = xidOf(session);
  return session.model.plant === "events-by-transaction" ? own : Math.max(own, ended);
}

/** More events than a statement writes: their numbers are drawn with their place, before the commit. */
export const SEQS = 1_000;

export function placeEvents(session: Session): EventPlace {
  return { xid: eventPlace(session), nextSeq: session.model.nextId("events") * SEQS };
}

export function endTransaction(model: Model, transaction: Transaction, how: "commit" | "rollback"): void {
  for (const lock of transaction.locks) model.locks.delete(lock);
  const { xid } = transaction;
  if (xid !== null) {
    model.xids.open.delete(xid);
    model.xids.ended = Math.max(model.xids.ended, xid);
  }
  for (const work of how === "commit" ? transaction.writes : transaction.undos.toReversed()) work();
  for (const tryAgain of model.waiting.splice(0)) tryAgain();
}

/** Waits for the lock; inside of a transaction it is held until its end. */
export function takeLock(session: Session, lock: string): void {
  const { model, transaction } = session;
  requireUnlocked(model, transaction, lock);
  if (transaction === null) return;
  xidOf(session);
  transaction.locks.add(lock);
  model.locks.set(lock, transaction);
}

export function requireUnlocked(model: Model, transaction: Transaction | null, lock: string): void {
  const holder = model.locks.get(lock);
  if (holder !== undefined && holder !== transaction) throw BLOCKED;
}

/** `for update skip locked` passes it by. */
export function isTaskLocked({ model }: Session, id: string): boolean {
  return model.locks.has(`task ${id}`);
}

/** The same of any other lock. */
export function isLocked({ model }: Session, lock: string): boolean {
  return model.locks.has(lock);
}

/** A statement that changes this task waits for the transaction that has it. */
export function waitForTask({ model, transaction }: Session, id: string): void {
  requireUnlocked(model, transaction, `task ${id}`);
}

/** `for key share`: a deletion of the queue that is under way is waited for. */
export function waitForDeletion({ model, transaction }: Session, queueId: number): void {
  requireUnlocked(model, transaction, `deletion ${queueId}`);
}

/** Whether a claim of an ordered queue has locked the flow: other claims skip it. */
export function isFlowLocked({ model, transaction }: Session, key: string): boolean {
  const holder = model.locks.get(`flow ${key}`);
  return holder !== undefined && holder !== transaction;
}

/** The count of a queue that belongs to no worker: until a transaction ends that has changed it, other statements wait. */
export function takeTally(session: Session, queueId: number): void {
  takeLock(session, `tally ${queueId}`);
}

/** A grant of slots keeps its worker's row from being deleted, and its own row from being changed, until it is committed. */
export function takeSlots(session: Session, workerId: number, queueId: number): void {
  takeLock(session, `slots ${workerId}/${queueId}`);
}

export function waitForSlots({ model, transaction }: Session, workerId: number, queueId: number): void {
  requireUnlocked(model, transaction, `slots ${workerId}/${queueId}`);
}

/** Deletes a worker only when no grant to it is under way. */
export function waitForGrants({ model, transaction }: Session, workerId: number): void {
  for (const lock of model.locks.keys())
    if (lock.startsWith(`slots ${workerId}/`)) requireUnlocked(model, transaction, lock);
}

/** At once, for nobody else reads the rows before the transaction that has locked them ends. */
export function writeLocked({ transaction }: Session, work: () => void, undo: () => void): void {
  transaction?.undos.push(undo);
  work();
}

/** At once, or with the transaction's commit. */
export function commitLater({ transaction }: Session, work: () => void): void {
  if (transaction === null) work();
  else transaction.writes.push(work);
}

/** At once, or with the transaction's commit. What it tells has its place among the events from now. */
export function write(session: Session, work: (place: EventPlace | null) => void): void {
  const { transaction } = session;
  if (transaction === null) {
    work(null);
    return;
  }
  transaction.writesEvents = true;
  const place = placeEvents(session);
  transaction.writes.push(() => work(place));
}
