/**
 * Tasks are found by their tags. A table of its own, in the order in which they are listed, so that a tag that a million
 * tasks have costs the same as one that a single task has; tasks without tags have no row in it, and no index.
 */
export const lists = `
create table task_tags (
  team_id integer not null,
  tag     text not null,
  task_id uuid not null,
  primary key (team_id, tag, task_id)
);

insert into task_tags (team_id, tag, task_id)
select team_id, tag, id from tasks cross join unnest(tags) as tag where tags is not null
on conflict do nothing;
`;
