import { mayBegin } from "./breaker-rows.ts";
import { type Effect, type Effects, numberAt, recordsAt } from "./effect.ts";
import { liveQueue } from "./intake-statements.ts";
import { isTaskLocked, type Session, takeLock, write } from "./session.ts";
import type { QueueColumns, TaskColumns } from "./tables.ts";
import { changeTask, ordered, pickColumns, started } from "./task-rows.ts";

export const CLAIMED: readonly (keyof TaskColumns)[] = [
  ...["id", "shape", "priority", "fence", "attempt_count", "failures", "method", "url", "headers", "body"],
  ...["body_is_json", "message", "max_retries", "backoff", "retry_delay_seconds", "retry_max_delay_seconds"],
  ...[
    "no_retry_statuses",
    "timeout_seconds",
    "sign",
    "provider",
    "poll_config",
    "wait_for_callback",
    "max_wait_seconds",
    "callback_sealed",
  ],
] as (keyof TaskColumns)[];

function claimFrom(
  session: Session,
  asked: { readonly queueId: number; readonly epoch: number; readonly limit: number },
  workerId: number,
  filter: (session: Session, task: TaskColumns) => boolean = () => true,
): object[] {
  const { tables, nowMs } = session;
  const isCurrent = tables.queues.get(asked.queueId)?.epoch === asked.epoch && tables.workers.has(workerId);
  const due = [...tables.tasks.values()].filter(
    (task) =>
      isDue(task, nowMs) &&
      (task.deadline_at === null || task.deadline_at > nowMs) &&
      task.queue_id === asked.queueId &&
      !isTaskLocked(session, task.id) &&
      filter(session, task),
  );
  const picked = isCurrent ? byTurn(due).slice(0, asked.limit) : [];
  const claimed = picked.map((row) => ({ ...row, ...started(row, workerId, nowMs) }));
  for (const { id } of picked) takeLock(session, `task ${id}`);
  if (picked.length > 0)
    write(session, (place) => {
      for (const row of picked) changeTask(session, row, started(row, workerId, nowMs), place);
    });
  if (claimed.length === 0) return [{ isCurrent, id: null }];
  return byTurn(claimed).map((row) => ({
    isCurrent,
    ...pickColumns(row, CLAIMED),
    runAt: new Date(row.run_at),
    scheduledFor: row.scheduled_for === null ? null : new Date(row.scheduled_for),
    attemptStartedAt: new Date(row.attempt_started_at ?? 0),
  }));
}

export const claimStatements: Effects = {
  claim_due_tasks: (session, values) => claimFrom(session, askedBy(values), numberAt(values, 4)),
  claim_unheld_tasks: (session, values) => claimFrom(session, askedBy(values), numberAt(values, 4), mayBegin),

  claim_from_queues(session, values) {
    const [queueIds = [], epochs, limits] = [1, 2, 4].map((index) => values[index] as readonly number[]);
    const asked = queueIds.map((queueId, index) => {
      return { queueId, epoch: epochs?.[index] ?? 0, limit: limits?.[index] ?? 0 };
    });
    return asked.flatMap((each) =>
      claimFrom(session, each, numberAt(values, 4)).map((row) => ({ ...row, queueId: each.queueId })),
    );
  },

  look_for_due({ tables, nowMs }, values) {
    const since = Math.min((values[0] as number | null) ?? nowMs, nowMs) - numberAt(values, 2);
    const pending = [...tables.tasks.values()].filter(
      ({ status, sandbox, flow, is_held }) => status === "pending" && !sandbox && flow === null && !is_held,
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
    const workerId = numberAt(values, 1);
    const { tables, nowMs } = session;
    if (!tables.workers.has(workerId)) return [];
    const free = waitingPolls(session).filter(({ row }) => !isTaskLocked(session, row.id));
    return recordsAt<TeamRoom>(values, 2)
      .flatMap(({ teamId, most }) => dueOfTeam(free, teamId, most, nowMs))
      .map(({ row: before }) => {
        const row = changeTask(session, before, { worker_id: workerId, fence: before.fence + 1 });
        return {
          ...pickColumns(row, [
            "team_id",
            "id",
            "shape",
            "queue_id",
            "flow",
            "fence",
            "timeout_seconds",
            "callback_sealed",
          ]),
          config: row.poll_config,
          plan: row.poll,
          elapsedMs: Math.round(nowMs - firstCallMs(row, nowMs)),
          firstHeaders: row.headers ?? {},
        };
      });
  },

  teams_with_due_polls: (session) => teamsWithDue(waitingPolls(session), session.nowMs),

  held_tasks: (session, values) =>
    held(session, values, "active").map((row) => pickColumns(row, ["team_id", "id", "queue_id", "fence"])),
  held_polls: (session, values) =>
    held(session, values, "polling").map((row) => pickColumns(row, ["team_id", "id", "fence"])),
};

function askedBy(values: readonly unknown[]) {
  return { queueId: numberAt(values, 2), epoch: numberAt(values, 3), limit: numberAt(values, 5) };
}

/** Of this life of the task: a retry began another. */
function firstCallMs({ retries, started_at, attempts }: TaskColumns, nowMs: number): number {
  return retries === 0 ? (started_at ?? nowMs) : Date.parse(attempts.at(-1)?.at ?? "");
}

interface TeamRoom {
  readonly teamId: number;
  readonly most: number;
}

/** A delivery that waits, with the instant at which it is due. */
export interface Waiting<Row> {
  readonly row: Row;
  readonly atMs: number;
}

function waitingPolls({ tables }: Session): Waiting<TaskColumns>[] {
  return [...tables.tasks.values()]
    .filter(({ status, worker_id }) => status === "polling" && worker_id === null)
    .map((row) => ({ row, atMs: row.run_at }));
}

/** The oldest of a team, as many as there is room for. */
export function dueOfTeam<Row extends { readonly team_id: number }>(
  waiting: readonly Waiting<Row>[],
  teamId: number,
  most: number,
  nowMs: number,
): Waiting<Row>[] {
  const due = waiting.filter(({ row, atMs }) => row.team_id === teamId && atMs <= nowMs);
  return ordered(due, ({ atMs }) => atMs).slice(0, most);
}

/** The teams that have something due, and how long until the first of another: of each team only its first is looked at. */
export function teamsWithDue(
  waiting: readonly Waiting<{ readonly team_id: number }>[],
  nowMs: number,
): object[] {
  const firsts = new Map<number, number>();
  for (const { row, atMs } of waiting)
    firsts.set(row.team_id, Math.min(atMs, firsts.get(row.team_id) ?? Number.POSITIVE_INFINITY));
  const due = ordered(firsts, ([, atMs]) => atMs).filter(([, atMs]) => atMs <= nowMs);
  const later = [...firsts.values()].filter((atMs) => atMs > nowMs);
  const untilMs = later.length === 0 ? null : Math.min(...later) - nowMs;
  return [...due.map(([teamId]) => ({ teamId, untilMs: null })), { teamId: null, untilMs }];
}

export function untilNext(instants: (session: Session) => readonly number[]): Effect {
  return (session) => {
    const all = instants(session);
    return [{ ms: all.length === 0 ? null : Math.min(...all) - session.nowMs }];
  };
}

function held({ tables }: Session, values: readonly unknown[], status: string): TaskColumns[] {
  const workerId = numberAt(values, 1);
  return [...tables.tasks.values()].filter((row) => row.worker_id === workerId && row.status === status);
}

export function isDue({ status, sandbox, flow, run_at, is_held }: TaskColumns, nowMs: number): boolean {
  return status === "pending" && !sandbox && flow === null && run_at <= nowMs && !is_held;
}

export function byTurn(rows: readonly TaskColumns[]): TaskColumns[] {
  return ordered(
    rows,
    ({ priority }) => -priority,
    ({ run_at }) => run_at,
    ({ id }) => id,
  );
}

export function hasDueTasks({ tables, nowMs }: Session, { id, deleted_at, paused }: QueueColumns): boolean {
  if (deleted_at !== null || paused) return false;
  for (const task of tables.tasks.values()) if (task.queue_id === id && isDue(task, nowMs)) return true;
  return false;
}

function toDueQueue({ team_id, name }: QueueColumns): object {
  return { teamId: team_id, queue: name };
}
