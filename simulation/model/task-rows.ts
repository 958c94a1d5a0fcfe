import { type FailureReason, isEnded, type TaskStatus } from "../../packages/server/src/domain/task.ts";
import { eventsOf, tellChange } from "./event-rows.ts";
import type { EventPlace, Session } from "./session.ts";
import type { AttemptColumn, TaskColumns } from "./tables.ts";

const camelNames = new Map<string, string>();

/** `{ maxRetries: row.max_retries }`: the named columns under the names that the code knows them by. */
export function pickColumns<Row extends object>(row: Row, names: readonly (keyof Row & string)[]): object {
  const picked: Record<string, unknown> = {};
  for (const name of names) picked[camelNames.get(name) ?? camelName(name)] = row[name];
  return picked;
}

function camelName(column: string): string {
  const name = column.replace(/_([a-z])/g, (_, next: string) => next.toUpperCase());
  camelNames.set(column, name);
  return name;
}

/** The closed attempts. The only one of a task that it completed is not written, as in `store/tasks/task-attempts.ts`. */
export function attemptsOf({
  status,
  attempts,
  attempt_count,
  result,
}: TaskColumns): readonly AttemptColumn[] {
  if (status !== "completed" || attempt_count !== 1 || attempts.length > 0 || result === null)
    return attempts;
  const { statusCode: code, duration: ms } = result;
  return [{ number: 1, status: "success", code, at: "", ms, phase: "responded", error: null }];
}

/** `place`: among the events, of a statement within a transaction. `told`: other events than those of the new status. */
export function changeTask(
  session: Session,
  before: TaskColumns,
  changes: Partial<TaskColumns>,
  place: EventPlace | null = null,
  told: readonly string[] = eventsOf(before.status, changes.status ?? before.status),
): TaskColumns {
  // A new status sets when the task is due, or that it is not.
  const isHeld = changes.status === undefined && before.is_held;
  const row = { ...before, is_held: isHeld, ...changes };
  session.tables.tasks.set(row.id, row);
  session.model.onChange({ relation: "tasks", op: "update", row });
  tellChange(session, told, row, place);
  return row;
}

/** The task as this transaction sees it. */
export function ownTask({ tables, transaction }: Session, id: string): TaskColumns | undefined {
  return transaction?.tasks.get(id) ?? tables.tasks.get(id);
}

/** For `ownTask`: the task as it will be. */
export function keepOwn({ transaction }: Session, row: TaskColumns): void {
  transaction?.tasks.set(row.id, row);
}

export function insertTask(session: Session, row: TaskColumns, place: EventPlace | null = null): void {
  session.tables.tasks.set(row.id, row);
  session.model.onChange({ relation: "tasks", op: "insert", row });
  tellChange(session, eventsOf(null, row.status), row, place);
}

/** Its idempotency key goes with it. */
export function deleteTask({ model, tables }: Session, row: TaskColumns): void {
  tables.tasks.delete(row.id);
  for (const [name, key] of tables.keys) if (key.task_id === row.id) tables.keys.delete(name);
  model.onChange({ relation: "tasks", op: "delete", row });
}

/** What every statement sets that takes a task out of a worker's hands: see `endColumns` of the store. */
export function letGo(
  row: TaskColumns,
  nowMs: number,
  to: {
    readonly status: TaskStatus;
    readonly deadlineAt?: number | null;
    readonly poll?: object | null;
    readonly callback?: "spent";
  },
): Partial<TaskColumns> {
  const ends = isEnded(to.status);
  return {
    status: to.status,
    completed_at: ends ? nowMs : null,
    deadline_at: ends ? null : to.deadlineAt === undefined ? row.deadline_at : to.deadlineAt,
    poll: ends ? null : to.poll === undefined ? row.poll : to.poll,
    callback_sealed: to.status === "completed" ? null : row.callback_sealed,
    ...(to.callback === "spent" && { callback_hash: null }),
    fence: row.fence + 1,
    worker_id: null,
  };
}

/** Whether its end has a notification, or may have one. */
export function isNotified({
  on_complete_url,
  on_failure_url,
}: Pick<TaskColumns, "on_complete_url" | "on_failure_url">): boolean {
  return on_complete_url !== null || on_failure_url !== null;
}

function notifiedUrls(row: TaskColumns) {
  if (!isEnded(row.status)) return [];
  const urls = [row.on_complete_url, row.status === "completed" ? null : row.on_failure_url];
  return urls.flatMap((url) => (url === null ? [] : { ...row, url }));
}

/** Those that ended are told, in the same commit. */
export function notifyEnds({ model, tables, nowMs }: Session, changed: readonly TaskColumns[]): void {
  for (const { team_id, id: task_id, url } of changed.flatMap(notifiedUrls)) {
    const number = model.nextId("notifications");
    const id = `00000000-0000-4000-9000-${String(number).padStart(12, "0")}`;
    const row = {
      team_id,
      id,
      task_id,
      url,
      status: "pending" as const,
      attempts: 0,
      next_at: nowMs,
      created_at: nowMs,
      fence: 0,
      worker_id: null,
      last_error: null,
    };
    tables.notifications.set(id, row);
    model.onChange({ relation: "notifications", op: "insert", row });
  }
}

export function failure(reason: string | undefined | null): FailureReason | null {
  return (reason ?? null) as FailureReason | null;
}

/** By the first that differs, as `order by` does. */
export function ordered<Row>(rows: Iterable<Row>, ...by: ((row: Row) => number | string)[]): Row[] {
  return [...rows].sort((one, other) => {
    for (const value of by) {
      const [a, b] = [value(one), value(other)];
      if (a !== b) return a < b ? -1 : 1;
    }
    return 0;
  });
}

/** What a claim changes. */
export function started(row: TaskColumns, workerId: number, nowMs: number): Partial<TaskColumns> {
  return {
    status: "active",
    worker_id: workerId,
    fence: row.fence + 1,
    attempt_count: row.attempt_count + 1,
    attempt_started_at: nowMs,
    started_at: row.started_at ?? nowMs,
    deadline_at: null,
  };
}

export function pendingOfFlows({ tables }: Session): TaskColumns[] {
  return [...tables.tasks.values()].filter(
    ({ status, sandbox, flow, is_held }) => status === "pending" && !sandbox && flow !== null && !is_held,
  );
}
