import { isEnded } from "../../packages/server/src/domain/task.ts";
import { takeLock, takeTally, write } from "./session.ts";
import { type Statements, textAt } from "./statement.ts";
import type { AttemptColumn, TaskColumns } from "./tables.ts";
import { changeTask, letGo, notifyEnds, pickColumns } from "./task-rows.ts";

/** What the owner of a task asks for by its id. */
export const cancelStatements: Statements = {
  cancel_task(session, values) {
    const row = session.tables.tasks.get(textAt(values, 2));
    if (row === undefined || isEnded(row.status)) return [];
    takeLock(session, `task ${row.id}`);
    takeTally(session, row.queue_id);
    const { nowMs } = session;
    write(session, () => {
      const cancelled = changeTask(session, row, {
        ...letGo(row, nowMs, { status: "cancelled" }),
        error: null,
        attempt_started_at: null,
        attempts: row.status === "active" ? [...row.attempts, abortedAttempt(row, nowMs)] : row.attempts,
      });
      notifyEnds(session, [cancelled]);
    });
    return [
      {
        ...pickColumns(row, [
          "shape",
          "queue_id",
          "sandbox",
          "worker_id",
          "fence",
          "timeout_seconds",
          "callback_sealed",
        ]),
        config: row.poll_config,
        plan: row.poll,
        firstHeaders: row.headers ?? {},
      },
    ];
  },

  find_task({ tables }, values) {
    const row = tables.tasks.get(textAt(values, 2));
    if (row === undefined) return [];
    return [
      {
        ...pickColumns(row, SHOWN),
        ...Object.fromEntries(INSTANTS.map(([name, column]) => [name, dateOf(row[column])])),
        queue: tables.queues.get(row.queue_id)?.name,
        retries: 0,
        closed: row.attempts,
      },
    ];
  },
};

const SHOWN = [
  ...["team_id", "id", "status", "shape", "priority", "sandbox", "method", "url", "headers", "body"],
  ...["body_is_json", "sign", "timeout_seconds", "max_retries", "backoff", "retry_delay_seconds"],
  ...["retry_max_delay_seconds", "no_retry_statuses", "expires_in_seconds", "provider", "poll_config"],
  ...["wait_for_callback", "max_wait_seconds", "on_complete_url", "attempt_count", "result", "error"],
  "failure_reason",
] as (keyof TaskColumns)[];

const INSTANTS = [
  ["runAt", "run_at"],
  ["createdAt", "created_at"],
  ["startedAt", "started_at"],
  ["completedAt", "completed_at"],
  ["attemptStartedAt", "attempt_started_at"],
] as const;

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
