/**
 * The sandbox is counted and listed apart from what is outside of it: rows of their own in the tallies, ranges of their own
 * in the index of lists. Both are exact for either, and cost a live task nothing: no further row, index or statement.
 */
export const sandbox = `
alter table queue_tallies
  add column sandbox boolean not null default false,
  drop constraint queue_tallies_pkey,
  add primary key (team_id, queue_id, worker_id, writer, sandbox);

-- So far they were counted as one.
with stored as (
  select team_id, queue_id, count(*) as tasks from tasks where sandbox group by team_id, queue_id
), moved as (
  select team_id, queue_id, true as sandbox, tasks from stored
   union all
  select team_id, queue_id, false, -tasks from stored
)
insert into queue_tallies as t (team_id, queue_id, worker_id, writer, sandbox, pending)
select team_id, queue_id, 0, 0, sandbox, tasks from moved
on conflict (team_id, queue_id, worker_id, writer, sandbox) do update set pending = t.pending + excluded.pending;

drop index tasks_listed;
create index tasks_listed on tasks (team_id, queue_id, sandbox, status, id);
`;
