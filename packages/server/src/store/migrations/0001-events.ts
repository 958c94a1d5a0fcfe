/**
 * What happened: events for teams that listen, their webhooks, and the statistics of queues. A row of events has what one statement did
 * to the tasks of one queue, so that a batch costs one row. Teams without a listener have none.
 */
export const events = `
-- A statement writes events for a team if it sees this row and until has not passed. since is the transaction that began it: events
-- from before may be missing.
create table listeners (
  team_id    integer primary key,
  since      xid8 not null default pg_current_xact_id(),
  renewed_at timestamptz not null default now(),
  until      timestamptz not null
);
-- Finds whether any team has a listener.
create index listeners_by_end on listeners (until);

-- The place of an event that is written now. It is
-- - no less than the id of any transaction that has ended, so no less than the place of whatever this statement has seen or waited for;
-- - no less than the id of its own transaction, so that a reader that has passed it has missed nothing before it;
-- - no id that is yet to be drawn, so that the event can be read once its transaction has ended.
-- The function is volatile because only that takes a new snapshot: the statement's own may be older than a change that the statement
-- has waited for. See docs/decisions/0016-events.md.
create function event_place() returns xid8 language plpgsql volatile as $$
begin
  return greatest(pg_current_xact_id(),
                  (pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1)::text::xid8);
end
$$;

-- Read in the order (xid, seq), and only up to the oldest open transaction that may write events: below it no further row can appear, so
-- a reader that has passed a place has missed nothing before it. A sequence alone would not do: its numbers are drawn before the
-- commit, and a late commit appears behind a reader that has passed it.
-- at is the instant of the change, which is when its transaction began. written_at is the clock when the event was written, which rises
-- with the changes of a task.
create table events (
  team_id    integer not null,
  xid        xid8 not null default event_place(),
  seq        bigint not null generated always as identity,
  sandbox    boolean not null,
  queue      text not null,
  at         timestamptz not null default now(),
  written_at timestamptz not null default clock_timestamp(),
  -- json, not jsonb: it is written once and read as a whole.
  entries    json not null,
  primary key (team_id, xid, seq)
);
create index events_by_age on events (at);

create table webhooks (
  team_id       integer not null,
  id            uuid not null,
  url           text not null,
  events        text[] not null,
  queue         text,
  tag           text,
  enabled       boolean not null,
  -- When Bellhop turned it off, because it had failed for days.
  disabled_at   timestamptz,
  failing_since timestamptz,
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now(),
  primary key (team_id, id)
);

-- The place up to which a team's events have become deliveries. The row exists while the team has an enabled webhook.
create table webhook_readers (
  team_id integer primary key,
  xid     xid8 not null,
  seq     bigint not null,
  index   integer not null
);

-- body is stored as it was first serialized, and kept for redeliveries.
create table webhook_deliveries (
  team_id       integer not null,
  id            uuid not null,
  webhook_id    uuid not null,
  event         text not null,
  body          text not null,
  status        text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts      integer not null default 0,
  next_at       timestamptz not null default now(),
  fence         integer not null default 0,
  worker_id     bigint,
  response_code smallint,
  last_error    text,
  created_at    timestamptz not null default now(),
  primary key (team_id, id)
);
create index webhook_deliveries_due on webhook_deliveries (team_id, next_at)
 where status = 'pending' and worker_id is null;
create index webhook_deliveries_held on webhook_deliveries (worker_id) where worker_id is not null;
create index webhook_deliveries_by_webhook on webhook_deliveries (team_id, webhook_id, id);
create index webhook_deliveries_by_age on webhook_deliveries (created_at);

-- The deliveries that repeat the message of an earlier one.
create table redeliveries (
  team_id     integer not null,
  delivery_id uuid not null,
  message_id  uuid not null,
  primary key (team_id, delivery_id)
);

-- What happened in which queue, for charts: a row per minute in which something happened, merged into rows of five minutes and later of an
-- hour. No task needs it. seconds (60, 300 or 3600) is the length of the time that begins at \`at\`. Each node writes its own
-- rows, so that no node waits for another; node 0 has the counts of all of them. waits and durations are counts by the buckets of
-- domain/histogram.ts, without the empty ones at the end. pending is how many tasks waited when one node looked in that minute; a
-- minute without a row in which one looked had none. The row of team 0 says when that was.
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
