/**
 * Circuit breakers. A queue with a breaker counts its attempts by host in breaker_counts. breakers has a row per host that is
 * held back, or was until a moment ago; holds_hosts of its queue changes with the epoch, so that every hand-off and claim knows.
 *
 * breaker_tasks has the tasks that wait for such a host: each is pending, and in no index of due tasks (due_at and
 * flow_due_at are null), so it costs other tasks nothing. passed_at is set while a task may begin all the same: it is the
 * probe, or one of those that follow. The pass is for the claim after `fence`. A row may outlive its reason; a task
 * never waits without one.
 */
export const breakers = `
alter table queues
  add column breaker jsonb,
  add column holds_hosts boolean not null default false;

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
