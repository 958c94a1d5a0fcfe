/**
 * Strict order in flows. The tasks themselves are the line of a flow; this holds only what their rows do not tell:
 *
 * - flows.line_at says until when the line has looked for tasks that came due later than they were created. Null: the line
 *   has not begun since the flow became ordered. Such tasks get the time of their creation as flow_due_at, so that the index of
 *   waiting tasks has all of the line in the order of creation;
 * - flow_line_tasks has the tasks that have begun and may hold the line, with how often each had been retried by hand then. A
 *   row may outlive its reason: the task's row is the truth.
 */
export const orderedFlows = `
alter table flows add column line_at timestamptz;

create table flow_line_tasks (
  team_id integer not null,
  sandbox boolean not null,
  flow    text collate "C" not null,
  task_id uuid not null,
  retries integer not null,
  primary key (team_id, sandbox, flow, task_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index flow_line_tasks_by_task on flow_line_tasks (team_id, task_id);
`;
