import { isEnded } from "../../packages/server/src/domain/task.ts";
import { type Effects, numberAt, textAt } from "./effect.ts";
import { type Session, takeLock, takeTally, waitForDeletion, write } from "./session.ts";
import type { AttemptColumn, TaskColumns } from "./tables.ts";
import { changeTask, isNotified, letGo, notifyEnds, pickColumns } from "./task-rows.ts";

/** What the owner of a task asks for by its id. */
export const cancelStatements: Effects = {
  cancel_task(session, values) {
    const row = session.tables.tasks.get(textAt(values, 2));
    if (row === undefined || isEnded(row.status)) return [];
    takeLock(session, `task ${row.id}`);
    takeTally(session, row.queue_id);
    const { nowMs } = session;
    const changes = {
      ...letGo(row, nowMs, { status: "cancelled" }),
      error: null,
      attempt_started_at: null,
      attempts: row.status === "active" ? [...row.attempts, abortedAttempt(row, nowMs)] : row.attempts,
    };
    write(session, (place) => {
      const cancelled = changeTask(session, row, changes, place);
      notifyEnds(session, [cancelled]);
    });
    return [
      {
        ...pickColumns(row, [
          "shape",
          "queue_id",
          "flow",
          "sandbox",
          "worker_id",
          "fence",
          "timeout_seconds",
          "callback_sealed",
        ]),
        notify: isNotified(row),
        config: row.poll_config,
        plan: row.poll,
        firstHeaders: row.headers ?? {},
      },
    ];
  },

  retry_task(session, values) {
    const row = session.tables.tasks.get(textAt(values, 2));
    if (row === undefined || (row.status !== "failed" && row.status !== "cancelled")) return [];
    takeLock(session, `task ${row.id}`);
    waitForDeletion(session, row.queue_id);
    const queue = session.tables.queues.get(row.queue_id);
    if (queue === undefined || queue.deleted_at !== null) return [];
    takeTally(session, row.queue_id);
    const { nowMs } = session;
    const endedMs = row.status === "cancelled" ? (row.completed_at ?? 0) + 1_000 : 0;
    const run_at = Math.max(nowMs + numberAt(values, 3) * 1_000, endedMs);
    write(session, (place) => {
      const changes = {
        status: "pending" as const,
        run_at,
        fence: row.fence + 1,
        retries: row.retries + 1,
        failures: 0,
        interruptions: 0,
        deadline_at: row.expires_in_seconds === null ? null : nowMs + row.expires_in_seconds * 1_000,
        completed_at: null,
        result: null,
        error: null,
        failure_reason: null,
        poll: null,
      };
      changeTask(session, row, changes, place);
      dropUntold(session, row.id);
    });
    const { team_id: teamId, queue_id: queueId, sandbox, flow } = row;
    const times = { createdAt: new Date(nowMs), runAt: new Date(run_at) };
    return [{ teamId, id: row.id, queue: queue.name, flow, queueId, sandbox, ...times }];
  },

  find_task({ tables }, values) {
    const row = tables.tasks.get(textAt(values, 2));
    if (row === undefined) return [];
    return [
      {
        ...pickColumns(row, SHOWN),
        ...Object.fromEntries(INSTANTS.map(([name, column]) => [name, dateOf(row[column])])),
        queue: tables.queues.get(row.queue_id)?.name,
        retries: row.retries,
        dismissedAt: null,
        scheduledFor: dateOf(row.scheduled_for),
        retriedWith: null,
        closed: row.attempts,
        notifications: notificationsOf(tables, row.id),
      },
    ];
  },
};

/** In the order of their creation; null: the task has none. */
function notificationsOf({ notifications }: Session["tables"], taskId: string): object[] | null {
  const found = [...notifications.values()].filter(({ task_id }) => task_id === taskId);
  if (found.length === 0) return null;
  return found.map(({ url, status, attempts, last_error: lastError, next_at }) => {
    const nextAt = status === "pending" ? new Date(next_at).toISOString() : null;
    return { url, status, attempts, lastError, nextAt };
  });
}

const SHOWN = [
  ...["team_id", "id", "status", "shape", "priority", "sandbox", "method", "url", "headers", "body"],
  ...["body_is_json", "message", "sign", "timeout_seconds", "max_retries", "backoff", "retry_delay_seconds"],
  ...["retry_max_delay_seconds", "no_retry_statuses", "expires_in_seconds", "provider", "poll_config"],
  ...[
    "wait_for_callback",
    "max_wait_seconds",
    "on_complete_url",
    "on_failure_url",
    "attempt_count",
    "result",
    "error",
  ],
  "failure_reason",
  "flow",
  "dedupe",
] as (keyof TaskColumns)[];

const INSTANTS = [
  ["runAt", "run_at"],
  ["createdAt", "created_at"],
  ["startedAt", "started_at"],
  ["completedAt", "completed_at"],
  ["attemptStartedAt", "attempt_started_at"],
] as const;

/** What a notification that was not delivered yet would tell is no longer so. */
function dropUntold({ tables, model }: Session, taskId: string): void {
  for (const row of tables.notifications.values()) {
    if (row.task_id !== taskId || row.status !== "pending") continue;
    tables.notifications.delete(row.id);
    model.onChange({ relation: "notifications", op: "delete", row });
  }
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}

function abortedAttempt({ attempt_count, attempt_started_at }: TaskColumns, nowMs: number): AttemptColumn {
  const beganMs = attempt_started_at ?? nowMs;
  return {
    number: attempt_count,
    status: "aborted",
    code: null,
    at: new Date(beganMs).toISOString(),
    ms: Math.max(0, Math.round(nowMs - beganMs)),
    phase: "sent",
    error: "The task was cancelled while the call was under way",
  };
}
