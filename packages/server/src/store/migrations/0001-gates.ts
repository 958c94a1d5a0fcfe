/**
 * What decides whether a task may start, besides the slots of its queue: flows, the order and the rate of a queue, and circuit breakers.
 * Rows that name tasks may outlive their reason: the task's own row is the truth.
 */
export const gates = `
-- One row per key, with the stored limits, those that its tasks carried (task_…), and a version that every claim changes: a claim whose
-- snapshot has another version than the locked row takes nothing. line_at is until when the line of an ordered flow has looked for
-- tasks that came due later than they were created; null: the line has not begun since the flow became ordered.
create table flows (
  team_id              integer not null,
  sandbox              boolean not null,
  key                  text collate "C" not null,
  is_stored            boolean not null default false,
  concurrency          integer,
  rate                 integer,
  period               integer,
  ordered              boolean,
  on_failure           text,
  pause_on_retry_after boolean,
  hold                 text,
  max_waiting          integer,
  task_concurrency     integer,
  task_rate            integer,
  task_period          integer,
  task_ordered         boolean,
  paused               boolean not null default false,
  paused_until         timestamptz,
  version              bigint not null default 0,
  line_at              timestamptz,
  created_at           timestamptz not null default now(),
  used_at              timestamptz not null default now(),
  primary key (team_id, sandbox, key)
) with (fillfactor = 50);
create index flows_by_use on flows (used_at);

-- A row per claim: a superset of the places in use. permit_at is set while the permit of the claim is not confirmed.
create table flow_holds (
  team_id   integer not null,
  sandbox   boolean not null,
  flow      text collate "C" not null,
  task_id   uuid not null,
  fence     integer not null,
  permit_at timestamptz,
  primary key (team_id, sandbox, flow, task_id, fence)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- The calls of a flow that began, counted by time, which is rounded up to a thousandth of the period.
create table flow_permits (
  team_id integer not null,
  sandbox boolean not null,
  flow    text collate "C" not null,
  at      timestamptz not null,
  count   integer not null,
  primary key (team_id, sandbox, flow, at)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- The tasks of an ordered flow that have begun and may hold its line, with the number of manual retries that each had then. The other
-- members of the line are found by the index of waiting tasks: those that came due later than they were created get the time of
-- their creation as flow_due_at, so that the index has the whole line in the order of creation.
create table flow_line_tasks (
  team_id integer not null,
  sandbox boolean not null,
  flow    text collate "C" not null,
  task_id uuid not null,
  retries integer not null,
  primary key (team_id, sandbox, flow, task_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index flow_line_tasks_by_task on flow_line_tasks (team_id, task_id);

-- A row for each line of an ordered queue that has begun since the queue became ordered. looked_at is until when the line has looked
-- for tasks that came due later than they were created.
create table queue_lines (
  team_id   integer not null,
  queue_id  bigint not null,
  looked_at timestamptz not null,
  primary key (team_id, queue_id),
  foreign key (team_id, queue_id) references queues (team_id, id) on delete cascade
) with (fillfactor = 50);

-- The tasks of an ordered queue that have begun and may hold the line (begun); and those that the index of due tasks does not have at the
-- time of their creation: tasks that came due later, and tasks with a flow. retries is the number of manual retries that a task had
-- when it began; -1: the task is not due yet, and created_at is the time when it will be.
create table line_tasks (
  team_id    integer not null,
  queue_id   bigint not null,
  created_at timestamptz not null,
  task_id    uuid not null,
  begun      boolean not null,
  retries    integer not null default 0,
  primary key (team_id, queue_id, created_at, task_id),
  foreign key (team_id, queue_id) references queues (team_id, id) on delete cascade
);
create index line_tasks_begun on line_tasks (team_id, queue_id) where begun;
create index line_tasks_by_task on line_tasks (team_id, task_id);

-- The calls of a queue with a rate, counted by the time from which each counts, rounded up to a thousandth of the period.
create table queue_permits (
  team_id  integer not null,
  queue_id bigint not null,
  at       timestamptz not null,
  count    integer not null,
  primary key (team_id, queue_id, at),
  foreign key (team_id, queue_id) references queues (team_id, id) on delete cascade
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- A row for each host that the circuit breaker of a queue holds back, or held back until a moment ago.
create table breakers (
  team_id   integer not null,
  queue_id  bigint not null,
  host      text collate "C" not null,
  phase     text not null,
  failures  integer not null,
  opened_at timestamptz not null,
  until     timestamptz not null,
  cooldown  integer not null,
  allowed   integer not null,
  primary key (team_id, queue_id, host),
  foreign key (team_id, queue_id) references queues (team_id, id) on delete cascade
) with (fillfactor = 50);

-- The attempts of a queue with a circuit breaker, counted by host.
create table breaker_counts (
  team_id  integer not null,
  queue_id bigint not null,
  host     text collate "C" not null,
  at       timestamptz not null,
  failed   integer not null,
  total    integer not null,
  primary key (team_id, queue_id, host, at),
  foreign key (team_id, queue_id) references queues (team_id, id) on delete cascade
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index breaker_counts_by_time on breaker_counts (at);

-- The tasks that wait for a host. Each is pending and in no index of due tasks (due_at and flow_due_at are null), so it costs other tasks
-- nothing. passed_at is set while a task may begin all the same: it is the probe, or one of those that follow. The pass is valid for
-- the claim after fence. No task waits without a row.
create table breaker_tasks (
  team_id   integer not null,
  task_id   uuid not null,
  queue_id  bigint not null,
  host      text collate "C" not null,
  priority  smallint not null,
  due_at    timestamptz not null,
  fence     integer not null,
  passed_at timestamptz,
  primary key (team_id, task_id)
);
create index breaker_tasks_held on breaker_tasks (team_id, queue_id, host, priority desc, due_at, task_id) where passed_at is null;
create index breaker_tasks_passed on breaker_tasks (team_id, queue_id, host) where passed_at is not null;
`;
