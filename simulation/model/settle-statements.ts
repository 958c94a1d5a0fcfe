import { isEnded, type TaskResult } from "../../packages/server/src/domain/task.ts";
import { untilNext } from "./claim-statements.ts";
import { arrayAt, type Effects, numberAt, recordsAt, textAt } from "./effect.ts";
import {
  commitLater,
  isTaskLocked,
  type Session,
  takeLock,
  takeTally,
  waitForDeletion,
  waitForTask,
  write,
} from "./session.ts";
import type { AttemptColumn, TaskColumns } from "./tables.ts";
import {
  attemptsOf,
  changeTask,
  failure,
  isNotified,
  keepOwn,
  letGo,
  notifyEnds,
  ordered,
  ownTask,
} from "./task-rows.ts";

/** As in `store/tasks/task-returns.ts`. */
const MAX_INTERRUPTIONS = 3;
const LOST = "The worker was lost while it made the call";

interface SettledRow {
  readonly id: string;
  readonly queue_id: number;
  readonly fence: number;
  readonly kind: "completed" | "retry" | "failed" | "waiting" | "polling";
  readonly wait_ms?: number;
  readonly deadline_ms?: number;
  readonly poll?: object;
  /** Null: it is derived when it is read. */
  readonly attempt: AttemptColumn | null;
  readonly result?: TaskResult;
  readonly error?: string;
  readonly reason?: string;
}

interface PollRow extends Omit<SettledRow, "kind" | "attempt"> {
  readonly kind: "again" | "completed" | "failed";
}

interface LostTask {
  readonly row: TaskColumns;
  readonly counts: 0 | 1;
  readonly phase: "not_sent" | "sent";
}

export const settleStatements: Effects = {
  settle_attempts(session, values) {
    const asked = recordsAt<SettledRow>(values, 1);
    for (const { kind, queue_id } of asked) if (kind === "retry") waitForDeletion(session, queue_id);
    return settle(session, asked).map((row) => ({ id: row.id, fence: row.fence - 1, ...outlook(row) }));
  },

  settle_attempts_completed: settleCompleted,

  settle_attempts_completed_flows(session, values) {
    const answer = settleCompleted(session, values);
    const { holds } = session.tables;
    for (const { id, fence } of completedRows(values)) {
      if (ownTask(session, id)?.fence !== fence + 1) continue;
      commitLater(session, () => {
        if (holds.get(`${id} ${fence}`)?.permit_at === null) holds.delete(`${id} ${fence}`);
      });
    }
    return answer;
  },

  find_settled(session, values) {
    return recordsAt<{ id: string; attempt: number }>(values, 1).flatMap(({ id, attempt }) => {
      const row = ownTask(session, id);
      const isSettled = (row === undefined ? [] : attemptsOf(row)).some(
        ({ number, status }) => number === attempt && (status === "success" || status === "failed"),
      );
      return row !== undefined && isSettled ? [{ id, attempt, ...outlook(row) }] : [];
    });
  },

  mark_superseded(session, values) {
    const row = session.tables.tasks.get(textAt(values, 2));
    if (row === undefined || row.attempts.length === 0) return [];
    waitForTask(session, row.id);
    const [number, closed] = [Number(values[2]), JSON.parse(textAt(values, 4))];
    const attempts = row.attempts.map((attempt) =>
      attempt.number === number && attempt.status === "interrupted" ? closed : attempt,
    );
    changeTask(session, row, { attempts });
    return [];
  },

  reap_tasks(session) {
    const lost = [...session.tables.tasks.values()].filter(
      (row) => row.status === "active" && isLost(session, row),
    );
    return returnTasks(
      session,
      lost.map((row) => ({ row, counts: 1, phase: "sent" })),
    );
  },

  release_tasks(session, values) {
    const lost = recordsAt<{ id: string; fence: number; phase: "not_sent" | "sent" }>(values, 2).flatMap(
      ({ id, fence, phase }): LostTask[] => {
        const row = session.tables.tasks.get(id);
        waitForTask(session, id);
        return row?.fence === fence && row.attempt_started_at !== null ? [{ row, counts: 0, phase }] : [];
      },
    );
    return returnTasks(session, lost);
  },

  reap_polls(session) {
    const lost = [...session.tables.tasks.values()].filter(
      (row) => row.status === "polling" && isLost(session, row),
    );
    for (const row of lost) changeTask(session, row, { worker_id: null, fence: row.fence + 1 });
    return lost.map(() => ({ "?column?": 1 }));
  },

  release_polls(session, values) {
    const polls = recordsAt<{ id: string; fence: number }>(values, 1);
    for (const { id } of polls) waitForTask(session, id);
    for (const { id, fence } of polls) {
      const row = session.tables.tasks.get(id);
      if (row?.fence === fence) changeTask(session, row, { worker_id: null, fence: fence + 1 });
    }
    return [];
  },

  settle_polls(session, values) {
    const asked = recordsAt<PollRow>(values, 1);
    for (const { id } of asked) waitForTask(session, id);
    const settled = asked.flatMap((j) => {
      const row = session.tables.tasks.get(j.id);
      if (row?.fence !== j.fence) return [];
      const status = j.kind === "again" ? "polling" : j.kind;
      return changeTask(session, row, {
        ...letGo(row, session.nowMs, { status, poll: j.poll ?? null }),
        run_at: j.wait_ms === undefined ? row.run_at : session.nowMs + j.wait_ms,
        result: j.result ?? null,
        error: j.error ?? null,
        failure_reason: failure(j.reason),
      });
    });
    notifyEnds(session, settled);
    return settled.map((row) => ({ id: row.id, notify: isNotified(row) }));
  },

  expire_tasks(session, values) {
    const late = [...session.tables.tasks.values()].filter(
      ({ id, deadline_at }) =>
        deadline_at !== null && deadline_at <= session.nowMs && !isTaskLocked(session, id),
    );
    const expired = ordered(late, ({ deadline_at }) => deadline_at ?? 0)
      .slice(0, numberAt(values, 2))
      .map((row) => {
        return changeTask(session, row, {
          ...letGo(row, session.nowMs, { status: "failed" }),
          ...lateness(row),
        });
      });
    notifyEnds(session, expired);
    return expired.map((row) => ({
      reason: row.failure_reason,
      teamId: row.team_id,
      id: row.id,
      queueId: row.queue_id,
      flow: row.flow,
      notify: isNotified(row),
    }));
  },

  until_next_deadline: untilNext(({ tables }) =>
    [...tables.tasks.values()].flatMap(({ deadline_at }) => deadline_at ?? []),
  ),

  resolve_callback(session, values) {
    const row = byCallback(session, textAt(values, 1));
    if (row === undefined || (row.status !== "waiting" && row.status !== "polling")) return [];
    waitForTask(session, row.id);
    takeTally(session, row.queue_id);
    const resolved = changeTask(session, row, {
      ...letGo(row, session.nowMs, { status: "completed", callback: "spent" }),
      result: JSON.parse(textAt(values, 2)),
      error: null,
    });
    notifyEnds(session, [resolved]);
    const { team_id: teamId, id, queue_id: queueId, flow, sandbox, on_complete_url } = row;
    return [{ teamId, id, queueId, flow, sandbox, notify: on_complete_url !== null }];
  },

  callback_status(session, values) {
    const row = byCallback(session, textAt(values, 1));
    const hasExpired = row?.failure_reason === "poll_timeout" || row?.failure_reason === "callback_timeout";
    return row === undefined || hasExpired ? [] : [{ status: row.status }];
  },
};

/** An array for each column, as `unnest` takes them. */
function completedRows(values: readonly unknown[]): SettledRow[] {
  const [fences, attempts] = [arrayAt<number>(values, 4), arrayAt<string | null>(values, 5)];
  const results = arrayAt<string>(values, 6);
  return arrayAt<string>(values, 3).map((id, index) => {
    const result: TaskResult = JSON.parse(results[index] ?? "");
    const attempt: AttemptColumn | null = JSON.parse(attempts[index] ?? "null");
    return { id, queue_id: 0, fence: fences[index] ?? 0, kind: "completed", attempt, result };
  });
}

function settleCompleted(session: Session, values: readonly unknown[]): object[] {
  const settled = settle(session, completedRows(values));
  const notified = settled.filter(({ on_complete_url }) => on_complete_url !== null).map(({ id }) => id);
  if (settled.length === 0) return [];
  return [{ settled: settled.length, notified: notified.length === 0 ? null : notified }];
}

function settle(session: Session, asked: readonly SettledRow[]): TaskColumns[] {
  const { tables, model, nowMs } = session;
  for (const { id } of asked) waitForTask(session, id);
  const settled = asked.flatMap((j) => {
    const row = tables.tasks.get(j.id);
    if (row === undefined || (row.fence !== j.fence && model.plant !== "no-fence")) return [];
    takeLock(session, `task ${j.id}`);
    const queueIsGone = j.kind === "retry" && isDeleted(session, j.queue_id);
    const status = queueIsGone ? "failed" : j.kind === "retry" ? "pending" : j.kind;
    const deadlineAt = j.deadline_ms === undefined ? null : nowMs + j.deadline_ms;
    const changes = {
      ...letGo(row, nowMs, { status, deadlineAt, poll: j.poll ?? null }),
      run_at: j.wait_ms === undefined ? row.run_at : nowMs + j.wait_ms,
      attempt_started_at: null,
      failures: row.failures + (j.kind === "retry" || j.kind === "failed" ? 1 : 0),
      attempts:
        model.plant === "attempt-not-recorded" || j.attempt === null
          ? row.attempts
          : [...row.attempts, j.attempt],
      result: j.result ?? null,
      error: j.error ?? null,
      failure_reason: queueIsGone ? ("queue_deleted" as const) : failure(j.reason),
    };
    return [{ row, changes, after: { ...row, ...changes } }];
  });
  for (const { after } of settled) keepOwn(session, after);
  if (settled.length > 0)
    write(session, (place) =>
      notifyEnds(
        session,
        settled.map(({ row, changes }) => changeTask(session, row, changes, place)),
      ),
    );
  return settled.map(({ after }) => after);
}

function lateness(row: TaskColumns): Pick<TaskColumns, "failure_reason" | "error"> {
  if (row.status === "polling") {
    const lastError = (row.poll as { seen?: { error?: string } } | null)?.seen?.error;
    const cause = lastError === undefined ? "" : `: last poll failed: ${lastError}`;
    return {
      failure_reason: "poll_timeout",
      error: `Polling timed out after ${row.poll_config?.maxDuration} s${cause}`,
    };
  }
  if (row.status === "waiting")
    return { failure_reason: "callback_timeout", error: `No callback within ${row.max_wait_seconds} s` };
  return { failure_reason: "expired", error: `No attempt was begun within ${row.expires_in_seconds} s` };
}

function byCallback({ tables }: Session, hash: string): TaskColumns | undefined {
  for (const row of tables.tasks.values()) if (row.callback_hash === hash) return row;
  return undefined;
}

/** Held by a worker that is no more, and by no transaction: those are passed by. */
function isLost(session: Session, { id, worker_id }: TaskColumns): boolean {
  return worker_id !== null && !session.tables.workers.has(worker_id) && !isTaskLocked(session, id);
}

function isDeleted({ tables }: Session, queueId: number): boolean {
  return tables.queues.get(queueId)?.deleted_at !== null;
}

function outlook(row: TaskColumns): object {
  const { status, run_at } = row;
  return {
    status,
    runAt: status === "pending" || status === "polling" ? new Date(run_at) : null,
    notify: isEnded(status) && isNotified(row),
  };
}

function returnTasks(session: Session, lost: readonly LostTask[]): object[] {
  for (const { row } of lost) waitForDeletion(session, row.queue_id);
  const returned = lost.map(({ row, counts, phase }) => {
    const tooMany = row.interruptions + counts >= MAX_INTERRUPTIONS;
    const queueIsGone = isDeleted(session, row.queue_id);
    const status = tooMany || queueIsGone ? "failed" : "pending";
    const at = new Date(row.attempt_started_at ?? 0).toISOString();
    return changeTask(session, row, {
      ...letGo(row, session.nowMs, { status }),
      failure_reason: tooMany ? "worker_lost" : queueIsGone ? "queue_deleted" : null,
      error: LOST,
      interruptions: row.interruptions + counts,
      attempt_started_at: null,
      attempts: [
        ...row.attempts,
        { number: row.attempt_count, status: "interrupted", code: null, at, ms: null, phase, error: LOST },
      ],
    });
  });
  notifyEnds(session, returned);
  return returned.map(({ team_id, id, queue_id, flow, status, failure_reason, ...row }) => ({
    teamId: team_id,
    id,
    queue: session.tables.queues.get(queue_id)?.name,
    queueId: queue_id,
    flow,
    status,
    failure: failure_reason,
    notify: status === "failed" && isNotified(row),
    hasFailureCallback: false,
  }));
}
