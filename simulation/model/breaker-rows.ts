import { breakerHost } from "../../packages/server/src/domain/breaker.ts";
import { commitLater, requireUnlocked, type Session, takeLock, xidOf } from "./session.ts";
import type { BreakerColumns, BreakerTaskColumns, TaskColumns } from "./tables.ts";

/*
 * Circuit breakers, and the tasks that wait for their hosts, as a statement sees them: its own transaction's changes with those that
 * are committed. A transaction that changes a breaker has locked its queue.
 */

/** Of one queue and host. */
export function breakerName(queueId: number, host: string): string {
  return `${queueId} ${host}`;
}

export function breakersOf(session: Session): BreakerColumns[] {
  return seen(session.tables.breakers, session.transaction?.breakers);
}

export function findBreaker(session: Session, queueId: number, host: string): BreakerColumns | undefined {
  const name = breakerName(queueId, host);
  const own = session.transaction?.breakers.get(name);
  return own === null ? undefined : (own ?? session.tables.breakers.get(name));
}

/** Null removes it. */
export function storeBreaker(session: Session, before: BreakerColumns, row: BreakerColumns | null): void {
  const { tables, model } = session;
  const name = breakerName(before.queue_id, before.host);
  const op = row === null ? "delete" : tables.breakers.has(name) ? "update" : "insert";
  session.transaction?.breakers.set(name, row);
  commitLater(session, () => {
    if (row === null) tables.breakers.delete(name);
    else tables.breakers.set(name, row);
    model.onChange({ relation: "breakers", op, row: row ?? before });
  });
}

/** The rows of tasks that wait for a host or have its pass. */
export function breakerTasksOf(session: Session, queueId: number, host: string): BreakerTaskColumns[] {
  const rows = seen(session.tables.breakerTasks, session.transaction?.breakerTasks);
  return rows.filter((row) => row.queue_id === queueId && row.host === host);
}

/** Null removes it. */
export function storeBreakerTask(session: Session, taskId: string, row: BreakerTaskColumns | null): void {
  const { breakerTasks } = session.tables;
  session.transaction?.breakerTasks.set(taskId, row);
  commitLater(session, () => {
    if (row === null) breakerTasks.delete(taskId);
    else breakerTasks.set(taskId, row);
  });
}

/**
 * Keeps the breakers of these hosts until the transaction ends; a removal that is under way is waited for. Others may keep the same one: each
 * has a lock of its own.
 */
export function keepBreakers(session: Session, tasks: readonly TaskColumns[]): void {
  const names = new Set(tasks.map((task) => breakerName(task.queue_id, hostOf(task))));
  for (const name of names) requireUnlocked(session.model, session.transaction, `breaker ${name}`);
  if (session.transaction === null) return;
  for (const name of names) takeLock(session, `${keptLock(name)}${xidOf(session)}`);
}

/** False: another transaction keeps it. */
export function lockBreaker(session: Session, name: string): boolean {
  const { locks } = session.model;
  const isKept = [...locks].some(
    ([lock, holder]) => lock.startsWith(keptLock(name)) && holder !== session.transaction,
  );
  if (!isKept) takeLock(session, `breaker ${name}`);
  return !isKept;
}

function keptLock(name: string): string {
  return `kept breaker ${name} `;
}

/** The lock of such a row, for a statement that does not lock the row of its task. */
export function breakerTaskLock(taskId: string): string {
  return `breaker task ${taskId}`;
}

function seen<Row>(
  committed: ReadonlyMap<string, Row>,
  own: ReadonlyMap<string, Row | null> = new Map(),
): Row[] {
  if (own.size === 0) return [...committed.values()];
  const rows = new Map<string, Row | null>([...committed, ...own]);
  return [...rows.values()].flatMap((row) => row ?? []);
}

export function hostOf({ url }: TaskColumns): string {
  return breakerHost(url) ?? "";
}

/** `MAY_BEGIN` of the store. */
export function mayBegin(session: Session, task: TaskColumns): boolean {
  const isAnyHost = session.model.plant === "other-hosts-held";
  const breaker = isAnyHost
    ? breakersOf(session).find(({ queue_id }) => queue_id === task.queue_id)
    : findBreaker(session, task.queue_id, hostOf(task));
  if (breaker === undefined || breaker.phase === "draining") return true;
  const row = session.tables.breakerTasks.get(task.id);
  return (
    row !== undefined && row.passed_at !== null && row.passed_at >= breaker.until && row.fence === task.fence
  );
}

/** `LINE_MAY_BEGIN` of the store. */
export function lineMayBegin(session: Session, task: TaskColumns): boolean {
  const breaker = findBreaker(session, task.queue_id, hostOf(task));
  return breaker === undefined || breaker.phase !== "open" || breaker.until <= session.nowMs;
}

/** The row of a task that is taken out of those that are due. */
export function waitingRow(task: TaskColumns): BreakerTaskColumns {
  const { id: task_id, queue_id, priority, run_at: due_at, fence } = task;
  return { task_id, queue_id, host: hostOf(task), priority, due_at, fence, passed_at: null };
}
