/**
 * The line of an ordered queue. The tasks themselves are its members; these tables hold only what their rows do not tell:
 *
 * - queue_lines has a row for each line that has begun since its queue became ordered: until when the line has looked for
 *   tasks that came due later than they were created;
 * - line_tasks has those tasks (`begun` is false), because the index of due tasks has them at the time they came due, not
 *   of their creation; and the tasks that have begun and may hold the line (`begun`). A row may outlive its reason: the
 *   task's row is the truth.
 */
export const orderedQueues = `
alter table queues
  add column ordered boolean not null default false,
  add column on_failure text not null default 'continue';
create index queues_ordered on queues (team_id, id) where ordered;

create table queue_lines (
  team_id   integer not null,
  queue_id  bigint not null,
  looked_at timestamptz not null,
  primary key (team_id, queue_id),
  foreign key (team_id, queue_id) references queues (team_id, id) on delete cascade
) with (fillfactor = 50);

create table line_tasks (
  team_id    integer not null,
  queue_id   bigint not null,
  created_at timestamptz not null,
  task_id    uuid not null,
  begun      boolean not null,
  -- How often the task had been retried by hand when it began.
  retries    integer not null default 0,
  primary key (team_id, queue_id, created_at, task_id),
  foreign key (team_id, queue_id) references queues (team_id, id) on delete cascade
);
create index line_tasks_begun on line_tasks (team_id, queue_id) where begun;
create index line_tasks_by_task on line_tasks (team_id, task_id);
`;
