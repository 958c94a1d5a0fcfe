import { liveQueue } from "./intake-statements.ts";
import type { Session } from "./session.ts";
import { numberAt, recordsAt, type Statement, type Statements } from "./statement.ts";
import type { QueueColumns, TaskColumns } from "./tables.ts";
import { changeTask, ordered, pickColumns } from "./task-rows.ts";

const CLAIMED = [
  ...["id", "shape", "priority", "fence", "attempt_count", "failures", "method", "url", "headers", "body"],
  ...["body_is_json", "max_retries", "backoff", "retry_delay_seconds", "timeout_seconds", "sign", "provider"],
  ...["poll_config", "wait_for_callback", "max_wait_seconds", "callback_sealed"],
] as (keyof TaskColumns)[];

export const claimStatements: Statements = {
  claim_due_tasks(session, values) {
    const [queueId, epoch, workerId, limit] = [2, 3, 4, 5].map((index) => numberAt(values, index));
    const { tables, model, nowMs } = session;
    const isCurrent = tables.queues.get(queueId ?? 0)?.epoch === epoch && tables.workers.has(workerId ?? 0);
    const due = [...tables.tasks.values()].filter(
      (task) => isDue(task, nowMs) && task.queue_id === queueId && !model.locks.has(`task ${task.id}`),
    );
    const picked = isCurrent ? byTurn(due).slice(0, limit) : [];
    const claimed = picked.map((row) =>
      changeTask(session, row, {
        status: "active",
        worker_id: workerId ?? 0,
        fence: row.fence + 1,
        attempt_count: row.attempt_count + 1,
        attempt_started_at: nowMs,
        started_at: row.started_at ?? nowMs,
      }),
    );
    if (claimed.length === 0) return [{ isCurrent, id: null }];
    return byTurn(claimed).map((row) => ({
      isCurrent,
      ...pickColumns(row, CLAIMED),
      runAt: new Date(row.run_at),
      attemptStartedAt: new Date(row.attempt_started_at ?? 0),
    }));
  },

  look_for_due({ tables, nowMs }, values) {
    const since = Math.min((values[0] as number | null) ?? nowMs, nowMs) - numberAt(values, 2);
    const pending = [...tables.tasks.values()].filter(
      ({ status, sandbox }) => status === "pending" && !sandbox,
    );
    const ids = new Set(
      pending.filter(({ run_at }) => run_at > since && run_at <= nowMs).map(({ queue_id }) => queue_id),
    );
    const found = [...ids]
      .flatMap((id) => tables.queues.get(id) ?? [])
      .filter((queue) => queue.deleted_at === null);
    const upcoming = pending.map(({ run_at }) => run_at).filter((at) => at > nowMs);
    const look = {
      databaseMs: nowMs,
      untilNextMs: upcoming.length === 0 ? null : Math.min(...upcoming) - nowMs,
    };
    if (found.length === 0) return [{ ...look, teamId: null, queue: null }];
    return found.map(({ team_id, name }) => ({ ...look, teamId: team_id, queue: name }));
  },

  queues_with_due_tasks(session) {
    return [...session.tables.queues.values()].filter((queue) => hasDueTasks(session, queue)).map(toDueQueue);
  },

  due_among(session, values) {
    return recordsAt<{ teamId: number; queue: string }>(values, 1).flatMap(({ teamId, queue: name }) => {
      const queue = liveQueue(session, teamId, name);
      return queue !== undefined && hasDueTasks(session, queue) ? [toDueQueue(queue)] : [];
    });
  },

  claim_due_polls(session, values) {
    const [workerId, limit] = [numberAt(values, 1), numberAt(values, 2)];
    const { tables, nowMs } = session;
    if (!tables.workers.has(workerId)) return [];
    const due = [...tables.tasks.values()].filter(
      ({ status, worker_id, run_at }) => status === "polling" && worker_id === null && run_at <= nowMs,
    );
    return ordered(due, ({ run_at }) => run_at)
      .slice(0, limit)
      .map((before) => {
        const row = changeTask(session, before, { worker_id: workerId, fence: before.fence + 1 });
        return {
          ...pickColumns(row, [
            "team_id",
            "id",
            "shape",
            "queue_id",
            "fence",
            "timeout_seconds",
            "callback_sealed",
          ]),
          config: row.poll_config,
          plan: row.poll,
          elapsedMs: Math.round(nowMs - (row.started_at ?? nowMs)),
          firstHeaders: row.headers ?? {},
        };
      });
  },

  until_next_poll: untilNext(({ tables }) =>
    [...tables.tasks.values()]
      .filter(({ status, worker_id }) => status === "polling" && worker_id === null)
      .map(({ run_at }) => run_at),
  ),

  held_tasks: (session, values) =>
    held(session, values, "active").map((row) => pickColumns(row, ["team_id", "id", "queue_id", "fence"])),
  held_polls: (session, values) =>
    held(session, values, "polling").map((row) => pickColumns(row, ["team_id", "id", "fence"])),
};

export function untilNext(instants: (session: Session) => readonly number[]): Statement {
  return (session) => {
    const all = instants(session);
    return [{ ms: all.length === 0 ? null : Math.min(...all) - session.nowMs }];
  };
}

function held({ tables }: Session, values: readonly unknown[], status: string): TaskColumns[] {
  const workerId = numberAt(values, 1);
  return [...tables.tasks.values()].filter((row) => row.worker_id === workerId && row.status === status);
}

function isDue({ status, sandbox, run_at }: TaskColumns, nowMs: number): boolean {
  return status === "pending" && !sandbox && run_at <= nowMs;
}

function byTurn(rows: readonly TaskColumns[]): TaskColumns[] {
  return ordered(
    rows,
    ({ priority }) => -priority,
    ({ run_at }) => run_at,
    ({ id }) => id,
  );
}

function hasDueTasks({ tables, nowMs }: Session, { id, deleted_at, paused }: QueueColumns): boolean {
  if (deleted_at !== null || paused) return false;
  for (const task of tables.tasks.values()) if (task.queue_id === id && isDue(task, nowMs)) return true;
  return false;
}

function toDueQueue({ team_id, name }: QueueColumns): object {
  return { teamId: team_id, queue: name };
}
