/**
 * Schedules, and which task a firing made. The two columns of a task that no schedule made are null, and both indexes hold
 * none of those; no change of a task's state touches them.
 */
export const schedules = `
-- task is what the creator wrote, request what was read from it. next_run_at is null while the schedule is paused: the one
-- that sets it to the next time is the one that has made the task.
create table schedules (
  team_id       integer not null,
  id            uuid not null,
  sandbox       boolean not null,
  name          text not null,
  cron          text not null,
  timezone      text not null,
  overlap       text not null check (overlap in ('allow', 'skip')),
  catch_up      text not null check (catch_up in ('one', 'none')),
  task          text not null,
  request       text not null,
  next_run_at   timestamptz,
  last_task_id  uuid,
  last_error    text,
  last_error_at timestamptz,
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now(),
  primary key (team_id, id),
  check ((last_error is null) = (last_error_at is null))
);
create unique index schedules_by_name on schedules (team_id, sandbox, name);
create index schedules_due on schedules (next_run_at) where next_run_at is not null;

-- fires_at is the time that the firing was for; null for one that was asked for by hand.
alter table tasks add column schedule_id uuid, add column fires_at timestamptz;
create index tasks_by_schedule on tasks (team_id, schedule_id, id) where schedule_id is not null;
create unique index tasks_by_firing on tasks (team_id, schedule_id, fires_at) where schedule_id is not null;
`;
