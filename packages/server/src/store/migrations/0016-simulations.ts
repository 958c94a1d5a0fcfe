/**
 * Tasks of the sandbox that walk through their states. What walks has a row in a table of its own: tasks have no further
 * column and no further index for it.
 */
export const simulations = `
-- said is how the task is to go. next_at is when it takes its next step; null once it has ended, until it is retried.
create table simulations (
  team_id integer not null,
  task_id uuid not null,
  said    jsonb not null,
  next_at timestamptz,
  primary key (team_id, task_id)
);
create index simulations_due on simulations (next_at) where next_at is not null;

-- By how much time the sandbox of its team was let pass: next_run_at + ahead_seconds is a time of the cron.
alter table schedules add column ahead_seconds bigint not null default 0;

-- No poll of a task of the sandbox is made.
drop index tasks_polls_due;
create index tasks_polls_due on tasks (team_id, run_at) where status = 'polling' and worker_id is null and not sandbox;
`;
