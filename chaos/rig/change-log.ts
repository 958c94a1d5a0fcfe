import { FLEETING } from "../checker/retention.ts";
import type { Change, NotificationRow, QueueRow, TaskRow, TaskStatus } from "../checker/rows.ts";
import type { Postgres } from "./postgres.ts";

/**
 * Triggers that write every change of a row into a table, in the transaction of the change: what was rolled back or lost
 * in a crash is not in it. Instants as milliseconds. Renewals of leases would be most of it, and tell nothing.
 */
const INSTALL = `
create schema chaos;
create table chaos.changes (
  seq      bigint generated always as identity primary key,
  xid      xid8 not null default pg_current_xact_id(),
  relation text not null,
  op       text not null,
  row      jsonb not null
);
create table chaos.pulse (beats bigint not null);
insert into chaos.pulse values (0);
create function chaos.ms(at timestamptz) returns float8 language sql immutable as
  $$ select extract(epoch from at)::float8 * 1000 $$;
-- The only attempt of a task that it completed is not written: see task-attempts.ts.
create function chaos.attempts(t tasks) returns jsonb language sql immutable as $$
  select case when t.status = 'completed' and t.attempt_count = 1 and t.attempts = '[]'
              then jsonb_build_array(jsonb_build_object('number', 1, 'status', 'success', 'code', t.result -> 'statusCode',
                                                        'phase', 'responded', 'error', null))
              else t.attempts end $$;
create function chaos.task(t tasks) returns jsonb language sql immutable as $$
  select jsonb_build_object(
    'id', t.id, 'teamId', t.team_id, 'queueId', t.queue_id, 'status', t.status, 'priority', t.priority, 'fence', t.fence,
    'workerId', t.worker_id, 'attemptCount', t.attempt_count, 'attempts', chaos.attempts(t), 'runAt', chaos.ms(t.run_at),
    'attemptStartedAt', chaos.ms(t.attempt_started_at), 'createdAt', chaos.ms(t.created_at), 'deadlineAt', chaos.ms(t.deadline_at), 'completedAt', chaos.ms(t.completed_at),
    'hasNotification', t.on_complete_url is not null, 'idempotencyKey', t.idempotency_key,
    'failureReason', t.failure_reason, 'retries', t.retries, 'interruptions', t.interruptions, 'flow', t.flow) $$;
create function chaos.schedule(s schedules) returns jsonb language sql immutable as $$
  select jsonb_build_object('id', s.id, 'nextRunAt', chaos.ms(s.next_run_at), 'skips', s.overlap = 'skip') $$;
create function chaos.firing(f schedule_firings) returns jsonb language sql immutable as $$
  select jsonb_build_object('scheduleId', f.schedule_id, 'taskId', f.task_id, 'firesAt', chaos.ms(f.fires_at)) $$;
create function chaos.bulk(b bulks) returns jsonb language sql immutable as $$
  select jsonb_build_object('id', b.id, 'action', b.action, 'status', b.status, 'matched', b.matched, 'done', b.done,
                            'skipped', b.skipped) $$;
create function chaos.queue(q queues) returns jsonb language sql immutable as $$
  select jsonb_build_object('id', q.id, 'name', q.name, 'concurrency', q.concurrency, 'paused', q.paused,
                            'ordered', q.ordered, 'blocks', q.on_failure = 'block', 'rate', q.rate, 'ratePeriod', q.rate_period,
                            'deleted', q.deleted_at is not null) $$;
create function chaos.breaker(b breakers) returns jsonb language sql immutable as $$
  select jsonb_build_object('queueId', b.queue_id, 'phase', b.phase, 'until', chaos.ms(b.until)) $$;
create function chaos.worker(w workers) returns jsonb language sql immutable as $$
  select jsonb_build_object('id', w.id, 'pid', substring(w.name from '[0-9]+$')::integer) $$;
create function chaos.notification(n notifications) returns jsonb language sql immutable as $$
  select jsonb_build_object('id', n.id, 'taskId', n.task_id, 'status', n.status, 'attempts', n.attempts,
                            'nextAt', chaos.ms(n.next_at)) $$;
`;

interface Watched {
  readonly relation: Change["relation"];
  readonly describe: string;
  readonly when: string;
  readonly hasSandbox?: boolean;
}

/** Rows of the sandbox are nobody's concern here: what became of them is asked by their own key. */
const WATCHED: readonly Watched[] = [
  { relation: "tasks", describe: "task", when: "insert or update or delete", hasSandbox: true },
  { relation: "queues", describe: "queue", when: "insert or update or delete" },
  { relation: "workers", describe: "worker", when: "insert or delete" },
  { relation: "notifications", describe: "notification", when: "insert or update or delete" },
  { relation: "schedules", describe: "schedule", when: "insert or update or delete", hasSandbox: true },
  { relation: "schedule_firings", describe: "firing", when: "insert" },
  { relation: "breakers", describe: "breaker", when: "insert or update or delete" },
  { relation: "bulks", describe: "bulk", when: "insert or update" },
];

export async function installChangeLog(postgres: Postgres): Promise<void> {
  const triggers = WATCHED.map(
    ({ relation, describe, when, hasSandbox = false }) => `
      create function chaos.note_${relation}() returns trigger language plpgsql as $$
      begin
        if ${hasSandbox ? "coalesce(new.sandbox, old.sandbox)" : "false"} then return null; end if;
        if tg_op = 'DELETE' then
          insert into chaos.changes (relation, op, row) values ('${relation}', 'delete', chaos.${describe}(old));
        else
          insert into chaos.changes (relation, op, row) values ('${relation}', lower(tg_op), chaos.${describe}(new));
        end if;
        return null;
      end $$;
      create trigger chaos_${relation} after ${when} on ${relation}
        for each row execute function chaos.note_${relation}();`,
  );
  await postgres.query([INSTALL, ...triggers].join("\n"));
  // Queues that the migration or the operator's start have made already.
  await postgres.query(
    "insert into chaos.changes (relation, op, row) select 'queues', 'insert', chaos.queue(q) from queues q",
  );
}

export async function readChangeLog(postgres: Postgres): Promise<Change[]> {
  // The rows are what the functions above made of them.
  return postgres.query<Change>(
    `select seq::float8, relation, op, row, chaos.ms(pg_xact_commit_timestamp(xid::xid)) as "committedAt"
       from chaos.changes order by seq`,
  );
}

export async function readTasks(postgres: Postgres): Promise<TaskRow[]> {
  const rows = await postgres.query<{ row: TaskRow }>(
    "select chaos.task(t) as row from tasks t where not t.sandbox",
  );
  return rows.map(({ row }) => row);
}

export async function readNotifications(postgres: Postgres): Promise<NotificationRow[]> {
  const rows = await postgres.query<{ row: NotificationRow }>(
    "select chaos.notification(n) as row from notifications n",
  );
  return rows.map(({ row }) => row);
}

export async function readQueues(postgres: Postgres): Promise<QueueRow[]> {
  const rows = await postgres.query<{ row: QueueRow }>("select chaos.queue(q) as row from queues q");
  return rows.map(({ row }) => row);
}

/** Of deliveries of webhooks that are tried again later than a run lasts: what they tell, as it is sent. */
export async function readUndelivered(postgres: Postgres): Promise<string[]> {
  const rows = await postgres.query<{ body: string }>(
    "select body from webhook_deliveries where status = 'pending' and attempts >= 2 and body is not null",
  );
  return rows.map(({ body }) => body);
}

type Unfinished = Record<TaskStatus | "untold" | "undelivered" | "bulks" | "fleeting", number>;

/** How many tasks, notifications, deliveries and bulk actions have not come to their end, or are there although they live for seconds. */
export async function countUnfinished(postgres: Postgres): Promise<Unfinished> {
  const [counts] = await postgres.query<Unfinished>(
    `select count(*) filter (where status = 'pending')::integer as pending,
            count(*) filter (where status = 'active')::integer as active,
            count(*) filter (where status = 'waiting')::integer as waiting,
            count(*) filter (where status = 'polling')::integer as polling,
            0 as completed, 0 as failed, 0 as cancelled,
            (select count(*)::integer from notifications
              where status = 'pending' and (attempts < 2 or next_at < now() + interval '10 s')) as untold,
            (select count(*)::integer from webhook_deliveries
              where status = 'pending' and (attempts < 2 or next_at < now() + interval '10 s')) as undelivered,
            (select count(*)::integer from tasks t join queues q on q.team_id = t.team_id and q.id = t.queue_id
              where q.name = '${FLEETING.queue}') as fleeting,
            (select count(*)::integer from bulks where status = 'running') as bulks
       from tasks where not sandbox and status not in ('completed', 'failed', 'cancelled')`,
  );
  if (counts === undefined) throw new Error("PostgreSQL did not count");
  return counts;
}
