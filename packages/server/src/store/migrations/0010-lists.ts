/**
 * Many tasks at once: tasks are found by their tags, and actions on many of them are kept until they are done. Of the tags there
 * is a table, in the order in which tasks are listed, so that a tag that a million tasks have costs the same as one that
 * a single task has; tasks without tags have no row in it, and no index.
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

-- An action on many tasks. done + skipped is how many of them have had their turn, and with that the place where it goes
-- on: it rises in the transaction that changes those tasks. Nothing is done before next_at, which keeps the rate.
create table bulks (
  team_id     integer not null,
  id          uuid not null,
  action      text not null check (action in ('cancel', 'retry', 'delete')),
  environment text not null check (environment in ('live', 'test')),
  rate        integer not null check (rate between 1 and 1000),
  status      text not null check (status in ('running', 'completed', 'stopped')),
  matched     integer not null,
  done        integer not null default 0,
  skipped     integer not null default 0,
  next_at     timestamptz not null default now(),
  created_at  timestamptz not null default now(),
  ended_at    timestamptz,
  primary key (team_id, id),
  constraint bulks_turns_are_of_tasks check (done + skipped <= matched),
  constraint bulks_ended_has_time check ((status = 'running') = (ended_at is null))
);
create index bulks_due on bulks (next_at) where status = 'running';
create index bulks_ended on bulks (ended_at) where ended_at is not null;

-- Which tasks it is about, as they were when it was asked for: a thousand in each row but the last, numbered from 0.
create table bulk_portions (
  team_id  integer not null,
  bulk_id  uuid not null,
  number   integer not null,
  task_ids uuid[] not null,
  primary key (team_id, bulk_id, number)
);
`;
