import { type Effects, numberAt, recordsAt, textAt } from "./effect.ts";
import { type AskedRow, liveQueue, newRow } from "./intake-statements.ts";
import { isLocked, type Session, takeLock, write, writeLocked } from "./session.ts";
import type { DedupeKeyColumns, TaskColumns } from "./tables.ts";
import { changeTask, keepOwn, ownTask } from "./task-rows.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

type KeyRow = Pick<DedupeKeyColumns, "team_id" | "sandbox" | "key">;

interface IdempotencyRow extends KeyRow {
  readonly task_id: string | null;
  readonly request_hash: string;
}

/** What the store sends for requests with a deduplication key, in one transaction. */
export const dedupeStatements: Effects = {
  lock_dedupe_keys(session, values) {
    const { tables, model, nowMs } = session;
    const asked = recordsAt<KeyRow>(values, 1).sort((one, other) => (one.key < other.key ? -1 : 1));
    return asked.map(({ team_id, sandbox, key }) => {
      const name = nameOf({ team_id, sandbox, key });
      if (model.plant !== "key-not-locked") takeLock(session, lockOf(name));
      const before = tables.dedupeKeys.get(name);
      const row: DedupeKeyColumns = before ?? {
        ...{ team_id, sandbox, key, task_id: null, callback_sealed: null },
        free_at: nowMs,
      };
      if (before === undefined) keep(session, row);
      const { task_id: taskId, callback_sealed: callbackSealed } = row;
      return { teamId: team_id, sandbox, key, taskId, callbackSealed };
    });
  },

  read_held_tasks(session, values) {
    const { tables, model } = session;
    return recordsAt<{ id: string }>(values, 1).flatMap(({ id }) => {
      const row = tables.tasks.get(id);
      if (row === undefined || row.dedupe === null) return [];
      const { team_id: teamId, dedupe, shape, created_at } = row;
      const createdMs = model.plant === "window-of-last" ? lastAskedMs(session, row) : created_at;
      return [
        {
          ...{ teamId, id, dedupe, shape, createdMs },
          queue: tables.queues.get(row.queue_id)?.name,
          isUntouched: isUntouched(session, row),
          hasCallback: row.callback_hash !== null,
          callbackSealed: row.callback_sealed,
        },
      ];
    });
  },

  lock_untouched(session, values) {
    const ids = recordsAt<{ id: string }>(values, 1).map(({ id }) => id);
    return ids.sort().flatMap((id) => {
      const row = session.tables.tasks.get(id);
      if (row === undefined || !isUntouched(session, row)) return [];
      takeLock(session, `task ${id}`);
      return [{ id }];
    });
  },

  read_dedupe_clocks: ({ nowMs }, values) =>
    recordsAt<KeyRow>(values, 1).map(({ team_id: teamId, sandbox }) => ({ teamId, sandbox, nowMs })),

  existing_queues: (session, values) =>
    recordsAt<{ team_id: number; name: string }>(values, 1).flatMap(({ team_id: teamId, name }) =>
      liveQueue(session, teamId, name) === undefined ? [] : [{ teamId, name }],
    ),

  take_idempotency_keys(session, values) {
    const { tables, nowMs } = session;
    const asked = recordsAt<IdempotencyRow>(values, 1).sort((one, other) => (one.key < other.key ? -1 : 1));
    return asked.flatMap(({ team_id, key, sandbox, task_id, request_hash }) => {
      const name = nameOf({ team_id, sandbox, key });
      takeLock(session, `key ${name}`);
      const taken = tables.keys.get(name);
      if (taken !== undefined && taken.created_at >= nowMs - DAY_MS) return [];
      const row = { team_id, key, sandbox, task_id: task_id ?? "", request_hash, created_at: nowMs };
      session.transaction?.writes.push(() => tables.keys.set(name, row));
      return [{ taskId: task_id }];
    });
  },

  bind_idempotency_keys(session, values) {
    const { keys } = session.tables;
    for (const { team_id, key, sandbox, task_id } of recordsAt<IdempotencyRow>(values, 1))
      session.transaction?.writes.push(() => {
        const name = nameOf({ team_id, sandbox, key });
        const row = keys.get(name);
        if (task_id === null) keys.delete(name);
        else if (row !== undefined) keys.set(name, { ...row, task_id });
      });
    return [];
  },

  replace_tasks(session, values) {
    const due = new Map(
      recordsAt<{ id: string; due_ms: number | null; new_hash: string | null; new_sealed: string | null }>(
        values,
        2,
      ).map((row) => [row.id, row]),
    );
    return recordsAt<AskedRow>(values, 1).flatMap((asked) => {
      const before = ownTask(session, asked.id);
      const queue = before === undefined ? undefined : session.tables.queues.get(before.queue_id);
      const { due_ms = null, new_hash = null, new_sealed = null } = due.get(asked.id) ?? {};
      if (before === undefined || queue === undefined || !isUntouched(session, before)) return [];
      const said = newRow(session, asked, queue, 0);
      const isTimed = asked.run_at !== undefined || asked.delay_seconds > 0;
      const run_at = due_ms ?? (isTimed ? said.run_at : Math.min(before.run_at, session.nowMs));
      const { shape, sandbox, idempotency_key, created_at, status, attempt_count, started_at } = before;
      const { fence, failures, interruptions, attempts, retries, scheduled_for } = before;
      const changes: Partial<TaskColumns> = {
        ...said,
        ...{ shape, sandbox, idempotency_key, created_at, status, attempt_count, started_at },
        ...{ fence, failures, interruptions, attempts, retries, scheduled_for, run_at },
        callback_hash: new_hash ?? before.callback_hash,
        callback_sealed: new_sealed,
      };
      keepOwn(session, { ...before, ...changes });
      write(session, (place) => changeTask(session, before, changes, place, ["task.replaced"]));
      const times = { createdAt: new Date(session.nowMs), runAt: new Date(run_at) };
      return [{ id: asked.id, queueId: before.queue_id, ...times }];
    });
  },

  keep_dedupe_keys(session, values) {
    for (const asked of recordsAt<KeyRow & { task_id: string; kept_seconds: number }>(values, 1)) {
      const row = session.tables.dedupeKeys.get(nameOf(asked));
      const free_at = session.nowMs + asked.kept_seconds * 1_000;
      if (row !== undefined) keep(session, { ...row, task_id: asked.task_id, free_at });
    }
    return [];
  },

  remove_old_dedupe_keys(session, values) {
    const { tables, nowMs } = session;
    const old = [...tables.dedupeKeys.values()]
      .filter((row) => row.free_at < nowMs && !isLocked(session, lockOf(nameOf(row))))
      .sort((one, other) => one.free_at - other.free_at)
      .slice(0, numberAt(values, 1));
    for (const row of old) {
      const task = tables.tasks.get(row.task_id ?? "");
      const isHeld =
        task !== undefined &&
        task.dedupe !== null &&
        task.dedupe.mode !== "first" &&
        isUntouched(session, task);
      if (isHeld) tables.dedupeKeys.set(nameOf(row), { ...row, free_at: nowMs + HOUR_MS });
      else tables.dedupeKeys.delete(nameOf(row));
    }
    return [{ looked: old.length }];
  },

  find_taken_key({ tables, nowMs }, values) {
    const name = nameOf({
      team_id: numberAt(values, 1),
      key: textAt(values, 2),
      sandbox: values[2] === true,
    });
    const row = tables.keys.get(name);
    if (row === undefined || row.created_at <= nowMs - DAY_MS) return [];
    return [{ taskId: row.task_id, requestHash: row.request_hash }];
  },
};

function nameOf({ team_id, sandbox, key }: KeyRow): string {
  return `${team_id} ${sandbox} ${key}`;
}

function lockOf(name: string): string {
  return `dedupe ${name}`;
}

/** Nobody else reads the row while the key is locked. */
function keep(session: Session, row: DedupeKeyColumns): void {
  const { dedupeKeys } = session.tables;
  const name = nameOf(row);
  const before = dedupeKeys.get(name);
  writeLocked(
    session,
    () => dedupeKeys.set(name, row),
    () => (before === undefined ? dedupeKeys.delete(name) : dedupeKeys.set(name, before)),
  );
}

function isUntouched({ model }: Session, { status, attempt_count }: TaskColumns): boolean {
  return status === "pending" && (attempt_count === 0 || model.plant === "called-task-replaced");
}

/** When the last request asked for the key of the task; from now on it is this one. */
function lastAskedMs(session: Session, { id, dedupe, created_at }: TaskColumns): number {
  const row = [...session.tables.dedupeKeys.values()].find(({ task_id }) => task_id === id);
  if (row === undefined || dedupe?.mode !== "first") return created_at;
  const windowMs = dedupe.windowSeconds * 1_000;
  if (row.free_at > session.nowMs) keep(session, { ...row, free_at: session.nowMs + windowMs });
  return row.free_at - windowMs;
}
