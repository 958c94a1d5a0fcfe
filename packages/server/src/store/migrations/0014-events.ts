/**
 * What happened, for teams that listen. A row holds what one statement did to one queue's tasks, so that a batch costs one
 * row; teams without a listener have none.
 */
export const events = `
-- A team is listened to until then: what a statement does to its tasks is written down if it sees this row. since is the
-- transaction that began it: events from before may be missing.
create table listeners (
  team_id    integer primary key,
  since      xid8 not null default pg_current_xact_id(),
  renewed_at timestamptz not null default now(),
  until      timestamptz not null
);
-- Whether any team is listened to at all.
create index listeners_by_end on listeners (until);

-- Read in the order (xid, seq), and only up to the oldest transaction that is still open: of those below it no further row
-- can appear, so that a reader which has passed a place has missed nothing before it. A sequence alone would not do:
-- its numbers are drawn before the commit, and a late commit appears behind a reader that has passed on.
create table events (
  team_id integer not null,
  xid     xid8 not null default pg_current_xact_id(),
  seq     bigint not null generated always as identity,
  sandbox boolean not null,
  queue   text not null,
  at      timestamptz not null default now(),
  -- json, not jsonb: it is written once, read whole and never looked into here.
  entries json not null,
  primary key (team_id, xid, seq)
);
create index events_by_age on events (at);
`;
