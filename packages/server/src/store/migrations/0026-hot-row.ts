/**
 * A completed settlement updates a task's row in place (a HOT update): no index mentions a column that it changes, which are
 * status, worker_id and fence. The indexes go by columns of their own instead:
 *
 * - due_at is run_at while the task is pending outside of the sandbox, otherwise null;
 * - poll_at is run_at while the task waits for its next poll and no worker has claimed that, otherwise null;
 * - list_key is the status, except that active and completed share the key 'begun' outside of the sandbox.
 *
 * What a worker holds is found by claim_batches: one row for each statement that claimed or handed off tasks. It names every
 * task that the worker got there, and stays until the worker holds none of them; worker_id in the task's row is the truth.
 */
export const hotRow = `
alter table tasks add column due_at timestamptz, add column poll_at timestamptz, add column list_key text;
update tasks set
  due_at = case when status = 'pending' and not sandbox then run_at end,
  poll_at = case when status = 'polling' and worker_id is null and not sandbox then run_at end,
  list_key = case when status in ('active', 'completed') and not sandbox then 'begun' else status end;
alter table tasks alter column list_key set not null;
-- Room on the page for the versions that settlements write, which are longer by the result.
alter table tasks set (fillfactor = 40);

drop index tasks_claimable, tasks_due, tasks_held, tasks_listed, tasks_polls_due;
create index tasks_claimable on tasks (team_id, queue_id, priority desc, due_at, id) where due_at is not null;
-- priority > 0 always holds: it is there so that only the alarm's queries, which repeat it, can use this index. A claim
-- planned with stale statistics walked it over every other queue's due tasks.
create index tasks_due on tasks (due_at) where due_at is not null and priority > 0;
create index tasks_polls_due on tasks (team_id, poll_at) where poll_at is not null;
create index tasks_listed on tasks (team_id, queue_id, sandbox, list_key, id);

create table claim_batches (
  worker_id bigint not null,
  id        bigint generated always as identity,
  team_id   integer not null,
  task_ids  uuid[] not null,
  primary key (worker_id, id)
) with (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

insert into claim_batches (worker_id, team_id, task_ids)
select worker_id, team_id, array_agg(id) from tasks where worker_id is not null group by worker_id, team_id;

-- A node of an earlier version would leave the new columns as they were. All of its statements that create tasks or change
-- their state name this column, so that they fail until the node is replaced.
alter table queue_tallies rename column writer to statement;
`;
