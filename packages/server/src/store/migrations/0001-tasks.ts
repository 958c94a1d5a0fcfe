/**
 * Queues, their tasks, and the workers that make the calls. Every table of a team's data has team_id first in its primary key and
 * in every unique constraint, so that the same schema can be distributed by team.
 */
export const tasks = `
-- One row per running process that makes calls. Its claims are valid while the row exists. The reaper removes the row after
-- expires_at, and releases everything that the process held.
create table workers (
  id         bigint generated always as identity primary key,
  name       text not null,
  started_at timestamptz not null default now(),
  expires_at timestamptz not null
);

-- One row per running process of any role, for the operator to look at. What a process may do is decided by its row in workers
-- alone. A process that stops removes its row; that of a crashed one stays for an hour. loop_lag_ms is the longest delay of its
-- event loop since the beat before.
create table nodes (
  id              bigint generated always as identity primary key,
  name            text not null,
  role            text not null check (role in ('all', 'api', 'worker')),
  version         text not null,
  started_at      timestamptz not null,
  seen_at         timestamptz not null,
  worker_id       bigint,
  calls_in_flight integer not null,
  max_in_flight   integer not null,
  clock_offset_ms float8 not null,
  loop_lag_ms     float8 not null
);

-- A deleted queue keeps its row until its last task is removed, because finished tasks still show its name. Names have no
-- constraint: the code checks them, and the QStash-compatible API allows more characters than /v1.
-- epoch rises whenever the rights of a worker in this queue change (concurrency, pause, delete). A claim carries the epoch under
-- which it was decided, so that a change applies at once on every node. holds_hosts says whether a circuit breaker holds back a
-- host; the epoch rises with it, so that every hand-off and claim knows. At most rate calls begin in any rate_period seconds.
create table queues (
  team_id                 integer not null references teams,
  id                      bigint generated always as identity,
  name                    text not null,
  concurrency             integer not null check (concurrency between 1 and 1000),
  rate                    integer,
  rate_period             integer,
  max_retries             smallint not null check (max_retries between 0 and 100),
  backoff                 text not null check (backoff in ('fixed', 'exponential')),
  retry_delay_seconds     integer not null check (retry_delay_seconds between 0 and 3600),
  retry_max_delay_seconds integer not null default 3600 check (retry_max_delay_seconds between 1 and 86400),
  no_retry_statuses       smallint[],
  timeout_seconds         integer not null check (timeout_seconds between 1 and 3600),
  ordered                 boolean not null default false,
  on_failure              text not null default 'continue',
  breaker                 jsonb,
  holds_hosts             boolean not null default false,
  paused                  boolean not null default false,
  epoch                   integer not null default 1,
  created_at              timestamptz not null default now(),
  updated_at              timestamptz not null default now(),
  deleted_at              timestamptz,
  primary key (team_id, id)
);
create unique index queues_by_name on queues (team_id, name) where deleted_at is null;
create index queues_deleted on queues (team_id, id) where deleted_at is not null;
create index queues_ordered on queues (team_id, id) where ordered;

-- How many calls of a queue a worker may have in flight. The sum over the workers never exceeds the queue's concurrency. The rows
-- are deleted with their worker, so a crash cannot leak a slot.
create table queue_slots (
  team_id   integer not null,
  queue_id  bigint not null,
  worker_id bigint not null references workers on delete cascade,
  slots     integer not null check (slots >= 0),
  primary key (team_id, queue_id, worker_id),
  foreign key (team_id, queue_id) references queues on delete cascade
);
create index queue_slots_by_worker on queue_slots (worker_id);

-- How many tasks of a queue are in each state, so that no count scans tasks. The count is the sum over a queue's rows. Each worker
-- adds to its own rows, one per kind of statement, in the statement that changes the tasks: no worker waits for another, and
-- no count drifts. worker_id 0 is of no worker. The sandbox has its own rows, so that live counts are exact without it.
create table queue_tallies (
  team_id   integer not null,
  queue_id  bigint not null,
  worker_id bigint not null,
  statement smallint not null,
  sandbox   boolean not null default false,
  pending   bigint not null default 0,
  active    bigint not null default 0,
  waiting   bigint not null default 0,
  polling   bigint not null default 0,
  completed bigint not null default 0,
  failed    bigint not null default 0,
  cancelled bigint not null default 0,
  primary key (team_id, queue_id, worker_id, statement, sandbox)
) with (fillfactor = 50);

-- fence rises with every change of a task's state. A verdict counts only under the fence of its claim.
-- attempts has the closed attempts, oldest first; attempt_count and attempt_started_at describe the open one. A task that its first
-- attempt completed stores none: the result says the same.
-- poll_config is the provider's entry as it was when the task was created. poll is the state of the polling, so that any node can
-- continue it. deadline_at ends a wait, a polling, or the wait for the first attempt (expires_in_seconds).
-- callback_hash finds the task of a callback. callback_sealed is the id itself, readable only with the vault's key: it is stored if
-- the call must contain it, and until the task is completed, because a failed or cancelled task can be retried.
-- retries counts manual retries, and retried_with says which parts of the call they replaced. scheduled_for is the time of its
-- schedule that the task was created for. dedupe is its deduplication key with mode and window. message has a value if the task is
-- a message of the QStash-compatible API.
--
-- A completed settlement updates the row in place (a HOT update): no index mentions a column that it changes, which are status,
-- worker_id and fence. The indexes use columns of their own instead, and every other statement keeps those in step:
--   due_at       is run_at while a live task without a flow is pending, otherwise null;
--   flow_due_at  is the same for a live task with a flow; in the line of an ordered flow it may be created_at;
--   poll_at      is run_at while a live task waits for its next poll and no worker has claimed it, otherwise null;
--   list_key     is the status, except that active and completed live tasks share the key 'begun'.
-- A pending task that has neither due_at nor flow_due_at waits in breaker_tasks. The fill factor leaves room on the page for the
-- versions that settlements write, which are longer by the result.
--
-- The table has no check constraints, because PostgreSQL reads the text of each again in every statement that writes tasks: they took
-- a quarter of a statement for one task. The statements keep the rules, and the tests run on a schema that has them as constraints
-- (test/task-rules.ts). There is no foreign key to queues: the insert reads the queue's row in the same statement, and the check
-- would cost more than the row.
create table tasks (
  team_id                 integer not null,
  id                      uuid not null,
  queue_id                bigint not null,
  shape                   text not null,
  status                  text not null,
  priority                smallint not null,
  sandbox                 boolean not null,

  method                  text not null,
  url                     text not null,
  headers                 jsonb,
  body                    text,
  body_is_json            boolean not null default false,
  sign                    boolean not null default false,
  timeout_seconds         integer not null,
  tags                    text[],
  metadata                jsonb,
  max_retries             smallint not null,
  backoff                 text not null,
  retry_delay_seconds     integer not null,

  provider                text,
  poll_config             jsonb,
  wait_for_callback       boolean not null default false,
  max_wait_seconds        integer,
  callback_hash           bytea,
  callback_sealed         bytea,
  on_complete_url         text,
  idempotency_key         text,

  run_at                  timestamptz not null,
  created_at              timestamptz not null,
  started_at              timestamptz,
  deadline_at             timestamptz,
  completed_at            timestamptz,

  fence                   integer not null default 0,
  worker_id               bigint,
  attempt_count           integer not null default 0,
  attempt_started_at      timestamptz,
  failures                integer not null default 0,
  interruptions           integer not null default 0,
  attempts                jsonb not null default '[]',
  poll                    jsonb,
  result                  jsonb,
  error                   text,
  failure_reason          text,

  retries                 integer not null default 0,
  expires_in_seconds      integer,
  retry_max_delay_seconds integer,
  no_retry_statuses       smallint[],
  schedule_id             uuid,
  due_at                  timestamptz,
  poll_at                 timestamptz,
  list_key                text not null,
  flow                    text collate "C",
  flow_due_at             timestamptz,
  dismissed_at            timestamptz,
  on_failure_url          text,
  scheduled_for           timestamptz,
  retried_with            jsonb,
  dedupe                  jsonb,
  message                 jsonb,

  primary key (team_id, id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.1, fillfactor = 40);
-- The order of the indexes counts: where two seem equally cheap, as in a plan made for an empty table, PostgreSQL takes the one that was
-- created last. The list of tasks, which has all rows, must stay before the indexes of waiting tasks with a flow.
create index tasks_deadlines on tasks (deadline_at) where deadline_at is not null;
create index tasks_by_callback on tasks (callback_hash) where callback_hash is not null;
create index tasks_claimable on tasks (team_id, queue_id, priority desc, due_at, id) where due_at is not null;
-- priority > 0 always holds. Only the alarm's queries repeat it, so that only they can use this index: a claim that was planned
-- with stale statistics walked it over the due tasks of every other queue.
create index tasks_due on tasks (due_at) where due_at is not null and priority > 0;
create index tasks_polls_due on tasks (team_id, poll_at) where poll_at is not null;
create index tasks_listed on tasks (team_id, queue_id, sandbox, list_key, id);
-- Tasks with a flow wait in indexes of their own: those that their flow holds back cost other tasks nothing.
create index tasks_flow_claimable on tasks (team_id, flow, queue_id, priority desc, flow_due_at, id) where flow_due_at is not null;
create index tasks_flow_due on tasks (flow_due_at) where flow_due_at is not null and priority > 0;

-- With the default targets nearly all of autovacuum's CPU went into \`analyze tasks\`: it sampled 30,000 rows and sorted each column.
-- Our statements need statistics of the indexed columns alone, and rough ones. The most demanding column sets the size of the
-- sample, so every column needs a target: a later migration that adds a column sets one too.
do $$
declare
  part record;
begin
  for part in
    select a.attname,
           exists (select 1 from pg_index i where i.indrelid = a.attrelid and a.attnum = any (i.indkey::smallint[])) as is_indexed
      from pg_attribute a
     where a.attrelid = 'tasks'::regclass and a.attnum > 0 and not a.attisdropped
  loop
    execute format('alter table tasks alter column %I set statistics %s', part.attname, case when part.is_indexed then 25 else 0 end);
  end loop;
end $$;

-- The tasks that a worker holds: one row per statement that claimed tasks or handed them off. It names every task that the worker
-- got there, and stays until the worker holds none of them; worker_id in the task's row is the truth.
create table claim_batches (
  worker_id bigint not null,
  id        bigint generated always as identity,
  team_id   integer not null,
  task_ids  uuid[] not null,
  primary key (worker_id, id)
) with (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- In the order in which tasks are listed, so that a tag of a million tasks costs the same as a tag of one. Tasks without tags have
-- no row.
create table task_tags (
  team_id integer not null,
  tag     text not null,
  task_id uuid not null,
  primary key (team_id, tag, task_id)
);

-- Written by the statement that ends the task. It never changes the task.
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
create index notifications_due on notifications (team_id, next_at) where status = 'pending' and worker_id is null;
create index notifications_held on notifications (worker_id) where worker_id is not null;
create index notifications_by_task on notifications (team_id, task_id);
`;
