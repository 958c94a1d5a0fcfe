/**
 * Queues, their tasks, and the workers that call for them. Every table of a team's data has `team_id` first in its
 * primary key and in every unique constraint, so that the same schema can be distributed by team.
 */
export const tasks = `
-- One row per running process. While the row exists its claims stand; the reaper removes the row once
-- expires_at has passed, and with it everything the process held.
create table workers (
  id         bigint generated always as identity primary key,
  name       text not null,
  started_at timestamptz not null default now(),
  expires_at timestamptz not null
);

-- A deleted queue keeps its row until its last task is gone: finished tasks still show its name.
-- epoch rises whenever what a worker may do here changes (concurrency, pause, delete): a claim carries the
-- epoch it was decided under, so that a change holds at once, on every node.
create table queues (
  team_id             integer not null references teams,
  id                  bigint generated always as identity,
  name                text not null check (name ~ '^[A-Za-z0-9-]{1,64}$'),
  concurrency         integer not null check (concurrency between 1 and 1000),
  max_retries         smallint not null check (max_retries between 0 and 100),
  backoff             text not null check (backoff in ('fixed', 'exponential')),
  retry_delay_seconds integer not null check (retry_delay_seconds between 0 and 3600),
  timeout_seconds     integer not null check (timeout_seconds between 1 and 3600),
  paused              boolean not null default false,
  epoch               integer not null default 1,
  created_at          timestamptz not null default now(),
  updated_at          timestamptz not null default now(),
  deleted_at          timestamptz,
  primary key (team_id, id)
);
create unique index queues_by_name on queues (team_id, name) where deleted_at is null;
create index queues_deleted on queues (team_id, id) where deleted_at is not null;

-- How many calls a worker may have in flight for a queue. The sum over its workers never exceeds the queue's
-- concurrency. Rows die with their worker, so a crash cannot leak a slot.
create table queue_slots (
  team_id   integer not null,
  queue_id  bigint not null,
  worker_id bigint not null references workers on delete cascade,
  slots     integer not null check (slots >= 0),
  primary key (team_id, queue_id, worker_id),
  foreign key (team_id, queue_id) references queues on delete cascade
);
create index queue_slots_by_worker on queue_slots (worker_id);

-- How many tasks of a queue are in which state, so that nothing is ever counted by scanning. What counts is the sum
-- over a queue's rows: each worker adds to rows of its own, one for each kind of statement that writes, in the
-- statement that changes the tasks, so that none waits for another and none drifts. worker_id 0 is of no worker.
create table queue_tallies (
  team_id   integer not null,
  queue_id  bigint not null,
  worker_id bigint not null,
  writer    smallint not null,
  pending   bigint not null default 0,
  active    bigint not null default 0,
  waiting   bigint not null default 0,
  polling   bigint not null default 0,
  completed bigint not null default 0,
  failed    bigint not null default 0,
  primary key (team_id, queue_id, worker_id, writer)
) with (fillfactor = 50);

-- fence rises with every change of a task's state. A verdict counts only under the fence its claim was given.
-- attempts holds the closed attempts, oldest first; the open one is attempt_count with attempt_started_at.
-- poll_config is what the provider's entry said when the task was created: a later catalog changes nothing.
-- poll holds how the polling goes, so that any node can carry on. deadline_at ends a wait or a polling.
-- callback_hash finds the task of a callback; callback_sealed is the id itself, kept only where the call must
-- name it, and readable only with the vault's key.
-- No foreign key to queues: the insert reads the queue's row in the same statement, and the check per row
-- would cost more than the row.
create table tasks (
  team_id             integer not null,
  id                  uuid not null,
  queue_id            bigint not null,
  shape               text not null check (shape in ('queue', 'direct')),
  status              text not null check (status in ('pending', 'active', 'waiting', 'polling', 'completed', 'failed')),
  priority            smallint not null check (priority between 1 and 10),
  sandbox             boolean not null,

  method              text not null,
  url                 text not null,
  headers             jsonb,
  body                text,
  body_is_json        boolean not null default false,
  sign                boolean not null default false,
  timeout_seconds     integer not null,
  tags                text[],
  metadata            jsonb,
  max_retries         smallint not null,
  backoff             text not null,
  retry_delay_seconds integer not null,

  provider            text,
  poll_config         jsonb,
  wait_for_callback   boolean not null default false,
  max_wait_seconds    integer,
  callback_hash       bytea,
  callback_sealed     bytea,
  on_complete_url     text,
  idempotency_key     text,

  run_at              timestamptz not null,
  created_at          timestamptz not null,
  started_at          timestamptz,
  deadline_at         timestamptz,
  completed_at        timestamptz,

  fence               integer not null default 0,
  worker_id           bigint,
  attempt_count       integer not null default 0,
  attempt_started_at  timestamptz,
  failures            integer not null default 0,
  interruptions       integer not null default 0,
  attempts            jsonb not null default '[]',
  poll                jsonb,
  result              jsonb,
  error               text,
  failure_reason      text,

  primary key (team_id, id),
  constraint tasks_active_is_held check ((status = 'active') = (attempt_started_at is not null) and (status <> 'active' or worker_id is not null)),
  constraint tasks_ended_has_time check ((status in ('completed', 'failed')) = (completed_at is not null)),
  constraint tasks_ended_is_let_go check (status not in ('completed', 'failed') or num_nonnulls(worker_id, poll, callback_sealed) = 0),
  constraint tasks_wait_has_end check ((status in ('waiting', 'polling')) = (deadline_at is not null)),
  constraint tasks_follow_one_way check (poll_config is null or not wait_for_callback),
  constraint tasks_sandbox_never_runs check (not sandbox or status = 'pending')
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.1);
create index tasks_claimable on tasks (team_id, queue_id, priority desc, run_at, id) where status = 'pending' and not sandbox;
-- fence >= 0 always holds: it is there so that only the alarm's queries, which repeat it, can use this index. A claim
-- planned with stale statistics walked it over every other queue's due tasks.
create index tasks_due on tasks (run_at) where status = 'pending' and not sandbox and fence >= 0;
create index tasks_held on tasks (worker_id) where worker_id is not null;
create index tasks_listed on tasks (team_id, queue_id, status, id);
create index tasks_polls_due on tasks (run_at) where status = 'polling' and worker_id is null;
create index tasks_deadlines on tasks (deadline_at) where deadline_at is not null;
create index tasks_by_callback on tasks (callback_hash) where callback_hash is not null;

-- Written in the statement that ends the task. It has a life of its own and never changes the task.
create table notifications (
  team_id    integer not null,
  id         uuid not null,
  task_id    uuid not null,
  url        text not null,
  status     text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts   integer not null default 0,
  next_at    timestamptz not null default now(),
  fence      integer not null default 0,
  worker_id  bigint,
  last_error text,
  created_at timestamptz not null default now(),
  primary key (team_id, id)
);
create index notifications_due on notifications (next_at) where status = 'pending' and worker_id is null;
create index notifications_held on notifications (worker_id) where worker_id is not null;
create index notifications_by_task on notifications (team_id, task_id);

-- A key used in the sandbox says nothing about the same key used for real.
create table idempotency_keys (
  team_id         integer not null,
  key             text not null,
  sandbox         boolean not null,
  request_hash    bytea not null,
  task_id         uuid not null,
  -- The id of the task's callback, sealed: a repeated request is told it again.
  callback_sealed bytea,
  created_at      timestamptz not null default now(),
  primary key (team_id, key, sandbox)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
`;
