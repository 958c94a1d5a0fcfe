/** Subscriptions: whom a team wants to be told of what happens to its tasks and queues, and what is on its way to them. */
export const webhooks = `
create table webhooks (
  team_id       integer not null,
  id            uuid not null,
  url           text not null,
  events        text[] not null,
  queue         text,
  tag           text,
  enabled       boolean not null,
  -- Turned off by Bellhop, after failing for days on end.
  disabled_at   timestamptz,
  failing_since timestamptz,
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now(),
  primary key (team_id, id)
);

-- How far a team's events have been made into deliveries: a place in the order of events. There is a row while the team has
-- a webhook that is enabled.
create table webhook_readers (
  team_id integer primary key,
  xid     xid8 not null,
  seq     bigint not null,
  index   integer not null
);

-- The body is kept as it was first put into words, until it is delivered.
create table webhook_deliveries (
  team_id       integer not null,
  id            uuid not null,
  webhook_id    uuid not null,
  event         text not null,
  body          text,
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
`;
