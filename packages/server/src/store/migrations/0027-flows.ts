/**
 * Flow control. A task with a flow waits in an index of its own: flow_due_at is run_at while it is pending outside of the
 * sandbox, and due_at is null then. So tasks that their flow holds back cost other tasks nothing. A completed settlement
 * changes neither column.
 *
 * flows has one row per key, with what was stored for it, what its tasks carried, and a version that every claim changes. flow_holds
 * has a row per claim: a superset of the places in use, because the row of a task is the truth. permit_at is set while the
 * claim's permit is not confirmed. flow_permits counts the calls that began, by time, rounded up to a thousandth of the period.
 */
export const flows = `
alter table tasks add column flow text collate "C", add column flow_due_at timestamptz;
create index tasks_flow_claimable on tasks (team_id, flow, queue_id, priority desc, flow_due_at, id) where flow_due_at is not null;
-- priority > 0 always holds: only the alarm's queries repeat it and can use this index.
create index tasks_flow_due on tasks (flow_due_at) where flow_due_at is not null and priority > 0;

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
  created_at           timestamptz not null default now(),
  used_at              timestamptz not null default now(),
  primary key (team_id, sandbox, key)
) with (fillfactor = 50);
create index flows_by_use on flows (used_at);

create table flow_holds (
  team_id   integer not null,
  sandbox   boolean not null,
  flow      text collate "C" not null,
  task_id   uuid not null,
  fence     integer not null,
  permit_at timestamptz,
  primary key (team_id, sandbox, flow, task_id, fence)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

create table flow_permits (
  team_id integer not null,
  sandbox boolean not null,
  flow    text collate "C" not null,
  at      timestamptz not null,
  count   integer not null,
  primary key (team_id, sandbox, flow, at)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
`;
