/**
 * The tasks of schedules in a table of their own. An index of the tasks that holds none of those no schedule made costs
 * each of them all the same: a sixth of what PostgreSQL spends on a task.
 */
export const scheduleFirings = `
-- fires_at is the time that the firing was for; null for one that was asked for by hand.
create table schedule_firings (
  team_id     integer not null,
  schedule_id uuid not null,
  task_id     uuid not null,
  fires_at    timestamptz,
  primary key (team_id, schedule_id, task_id)
);
create unique index schedule_firings_by_time on schedule_firings (team_id, schedule_id, fires_at);

insert into schedule_firings (team_id, schedule_id, task_id, fires_at)
select team_id, schedule_id, id, fires_at from tasks where schedule_id is not null;

drop index tasks_by_schedule, tasks_by_firing;
alter table tasks drop column fires_at;
`;
