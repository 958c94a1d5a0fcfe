/**
 * Alerts: conditions that are evaluated once a minute, the channels that they notify, and the messages that have not been
 * delivered yet.
 */
export const alerts = `
create table alerts (
  team_id        integer not null,
  id             uuid not null,
  name           text not null,
  kind           text not null,
  queue          text,
  threshold      double precision,
  within_seconds integer,
  for_seconds    integer not null,
  enabled        boolean not null,
  state          text not null default 'ok' check (state in ('ok', 'firing')),
  value          double precision,
  -- Since when the condition has held; null while it does not.
  held_since     timestamptz,
  last_fired_at  timestamptz,
  -- When the last message about the current firing was created.
  told_at        timestamptz,
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now(),
  primary key (team_id, id),
  check (state = 'ok' or held_since is not null)
);

-- target is the address or the URL; of a Slack URL it is the part that may be shown, and sealed is the whole.
create table alert_channels (
  team_id      integer not null,
  id           uuid not null,
  alert_id     uuid not null,
  position     integer not null,
  kind         text not null check (kind in ('email', 'url', 'slack_url')),
  target       text not null,
  sealed       bytea,
  last_error   text,
  last_sent_at timestamptz,
  primary key (team_id, id),
  check ((kind = 'slack_url') = (sealed is not null))
);
create index alert_channels_by_alert on alert_channels (team_id, alert_id);
create index alert_channels_sealed on alert_channels (team_id, id) where sealed is not null;

-- One row for each message and channel, deleted when it is delivered or given up. The channels of one message share its
-- message_id. seq is the order in which a channel gets its messages. A claim moves next_at into the future: if its node
-- dies, the row is due again then.
create table alert_messages (
  team_id    integer not null,
  id         uuid not null,
  message_id uuid not null,
  channel_id uuid not null,
  seq        bigint generated always as identity,
  type       text not null,
  body       json not null,
  attempts   integer not null default 0,
  fence      integer not null default 0,
  next_at    timestamptz not null default now(),
  primary key (team_id, id)
);
create index alert_messages_due on alert_messages (team_id, next_at);
create index alert_messages_by_channel on alert_messages (team_id, channel_id, seq);

-- One row: the node that evaluates the alerts, until when, and which round it is.
create table alert_rounds (
  id         smallint primary key check (id = 1),
  holder     uuid,
  held_until timestamptz not null,
  round      bigint not null,
  next_at    timestamptz not null
);
insert into alert_rounds (id, held_until, round, next_at) values (1, now(), 0, now());

-- Firings in a row that created no task.
alter table schedules add column errors_in_row integer not null default 0;
`;
