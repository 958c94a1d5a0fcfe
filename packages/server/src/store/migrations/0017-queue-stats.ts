/**
 * What happened in which queue, for charts that outlive a restart: a row for each minute in which something did, later one
 * for five minutes, later still one for an hour. Nothing of it is needed to execute a task.
 */
export const queueStats = `
-- seconds is how long the time is that begins at \`at\`: 60, 300 or 3600. Each node writes rows of its own, so that none
-- waits for another; node 0 has what all of them counted together. waits and durations are counts by the buckets of
-- domain/histogram.ts, without the empty ones at the end. pending is how many waited, as it was looked at once in the
-- minute, by one node; a minute without a row, in which one was looked at, had none waiting. The row of team 0 says when
-- that was.
create table queue_stats (
  team_id   integer not null,
  queue_id  bigint not null,
  sandbox   boolean not null,
  seconds   integer not null check (seconds in (60, 300, 3600)),
  at        timestamptz not null,
  node      bigint not null,
  created   integer not null default 0,
  completed integer not null default 0,
  failed    integer not null default 0,
  cancelled integer not null default 0,
  retried   integer not null default 0,
  waits     integer[],
  durations integer[],
  pending   bigint,
  primary key (team_id, seconds, at, queue_id, sandbox, node)
);
create index queue_stats_by_age on queue_stats (seconds, at);
`;
