/** Features beside the task core: schedules and URL groups, bulk actions, the sandbox, and alerts. */
export const features = `
-- task is what the creator wrote, request what was read from it. next_run_at is null while the schedule is paused. A firing creates its task
-- in the transaction that sets next_run_at to the next time, so each time fires once. In the sandbox time can be let pass: next_run_at +
-- ahead_seconds is a time of the cron. fan_out has the endpoints of a URL group that the firing under way has not reached yet; it
-- counts only while next_run_at is the time of that firing. errors_in_row counts firings in a row that created no task.
create table schedules (
  team_id       integer not null,
  id            uuid not null,
  sandbox       boolean not null,
  name          text not null,
  cron          text not null,
  timezone      text not null,
  overlap       text not null check (overlap in ('allow', 'skip')),
  catch_up      text not null check (catch_up in ('one', 'none')),
  task          text not null,
  request       text not null,
  next_run_at   timestamptz,
  ahead_seconds bigint not null default 0,
  fan_out       jsonb,
  last_task_id  uuid,
  last_error    text,
  last_error_at timestamptz,
  errors_in_row integer not null default 0,
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now(),
  primary key (team_id, id),
  check ((last_error is null) = (last_error_at is null))
);
create unique index schedules_by_name on schedules (team_id, sandbox, name);
create index schedules_due_by_team on schedules (team_id, next_run_at) where next_run_at is not null;

-- The tasks of schedules. An index of tasks would cost each task that no schedule created, too: a sixth of what PostgreSQL spends on a
-- task. fires_at is the time of the firing; null for one that was requested by hand.
create table schedule_firings (
  team_id     integer not null,
  schedule_id uuid not null,
  task_id     uuid not null,
  fires_at    timestamptz,
  primary key (team_id, schedule_id, task_id)
);
create unique index schedule_firings_by_time on schedule_firings (team_id, schedule_id, fires_at);

-- Named lists of endpoints. A message to a group becomes one task per endpoint.
create table url_groups (
  team_id    integer not null,
  name       text not null,
  endpoints  jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (team_id, name)
);

-- An action on many tasks. done + skipped is how many of them were processed, and so the position at which it continues: it rises in
-- the transaction that changes those tasks. No task is processed before next_at, which keeps the rate.
create table bulks (
  team_id     integer not null,
  id          uuid not null,
  action      text not null,
  environment text not null check (environment in ('live', 'test')),
  rate        integer not null check (rate between 1 and 1000),
  status      text not null,
  matched     integer not null,
  done        integer not null default 0,
  skipped     integer not null default 0,
  next_at     timestamptz not null default now(),
  created_at  timestamptz not null default now(),
  ended_at    timestamptz,
  primary key (team_id, id),
  constraint bulks_turns_are_of_tasks check (done + skipped <= matched)
);
create index bulks_due on bulks (next_at) where ended_at is null;
create index bulks_ended on bulks (ended_at) where ended_at is not null;

-- The tasks of an action, as they matched when it was requested: a thousand in each row but the last, numbered from 0.
create table bulk_portions (
  team_id  integer not null,
  bulk_id  uuid not null,
  number   integer not null,
  task_ids uuid[] not null,
  primary key (team_id, bulk_id, number)
);

-- Sandbox tasks with a next step. said is how the simulated task is to go; null: the task is not simulated, and next_at is when it
-- expires. next_at is null once the task has ended, until it is retried.
create table simulations (
  team_id integer not null,
  task_id uuid not null,
  said    jsonb,
  next_at timestamptz,
  primary key (team_id, task_id)
);
create index simulations_due on simulations (next_at) where next_at is not null;

-- By how much time the sandbox of a team was let pass; no row: none. The times in the records of its tasks are by that clock. When a step or
-- a firing is due is stored by the real clock, so that one index finds what is due for all teams.
create table sandbox_clocks (
  team_id       integer primary key,
  ahead_seconds bigint not null
);

-- Conditions that are evaluated once a minute.
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

-- target is the address or the URL. For a Slack URL it is the part that may be shown, and sealed is the whole.
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

-- One row for each message and channel, deleted when it is delivered or given up. The channels of one message share its message_id. seq is
-- the order in which a channel receives its messages. A claim moves next_at into the future: if its node dies, the row is due again
-- then.
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

-- One row: the node that evaluates the alerts, until when, and the number of its round.
create table alert_rounds (
  id         smallint primary key check (id = 1),
  holder     uuid,
  held_until timestamptz not null,
  round      bigint not null,
  next_at    timestamptz not null
);
insert into alert_rounds (id, held_until, round, next_at) values (1, now(), 0, now());
`;
