-- The schema after migration 1, written by npm run generate. Nobody runs this file: the server migrates its
-- database by itself (packages/server/src/store/migrations).

CREATE OR REPLACE FUNCTION public.event_place()
 RETURNS xid8
 LANGUAGE plpgsql
AS $function$
begin
  return greatest(pg_current_xact_id(),
                  (pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1)::text::xid8);
end
$function$;

create table alert_channels (
  team_id integer not null,
  id uuid not null,
  alert_id uuid not null,
  position integer not null,
  kind text not null,
  target text not null,
  sealed bytea,
  last_error text,
  last_sent_at timestamp with time zone,
  constraint alert_channels_pkey PRIMARY KEY (team_id, id),
  constraint alert_channels_check CHECK (((kind = 'slack_url'::text) = (sealed IS NOT NULL))),
  constraint alert_channels_kind_check CHECK ((kind = ANY (ARRAY['email'::text, 'url'::text, 'slack_url'::text])))
);

CREATE INDEX alert_channels_by_alert ON alert_channels USING btree (team_id, alert_id);

CREATE INDEX alert_channels_sealed ON alert_channels USING btree (team_id, id) WHERE (sealed IS NOT NULL);

create table alert_messages (
  team_id integer not null,
  id uuid not null,
  message_id uuid not null,
  channel_id uuid not null,
  seq bigint not null generated always as identity,
  type text not null,
  body json not null,
  attempts integer not null default 0,
  fence integer not null default 0,
  next_at timestamp with time zone not null default now(),
  constraint alert_messages_pkey PRIMARY KEY (team_id, id)
);

CREATE INDEX alert_messages_by_channel ON alert_messages USING btree (team_id, channel_id, seq);

CREATE INDEX alert_messages_due ON alert_messages USING btree (team_id, next_at);

create table alert_rounds (
  id smallint not null,
  holder uuid,
  held_until timestamp with time zone not null,
  round bigint not null,
  next_at timestamp with time zone not null,
  constraint alert_rounds_pkey PRIMARY KEY (id),
  constraint alert_rounds_id_check CHECK ((id = 1))
);

create table alerts (
  team_id integer not null,
  id uuid not null,
  name text not null,
  kind text not null,
  queue text,
  threshold double precision,
  within_seconds integer,
  for_seconds integer not null,
  enabled boolean not null,
  state text not null default 'ok'::text,
  value double precision,
  held_since timestamp with time zone,
  last_fired_at timestamp with time zone,
  told_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint alerts_pkey PRIMARY KEY (team_id, id),
  constraint alerts_check CHECK (((state = 'ok'::text) OR (held_since IS NOT NULL))),
  constraint alerts_state_check CHECK ((state = ANY (ARRAY['ok'::text, 'firing'::text])))
);

create table api_keys (
  id uuid not null,
  team_id integer not null,
  name text not null,
  environment text not null,
  is_setting boolean not null default false,
  prefix text not null,
  hash bytea not null,
  created_at timestamp with time zone not null default now(),
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint api_keys_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id),
  constraint api_keys_hash_key UNIQUE (hash)
);

CREATE INDEX active_api_keys ON api_keys USING btree (team_id, created_at) WHERE (revoked_at IS NULL);

create table audit_events (
  team_id integer not null,
  id uuid not null,
  at timestamp with time zone not null default now(),
  actor_kind text not null,
  actor_id text not null,
  actor_name text not null,
  action text not null,
  target text not null,
  detail jsonb,
  address text,
  request_id text,
  constraint audit_events_pkey PRIMARY KEY (team_id, id),
  constraint audit_events_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['api_key'::text, 'session'::text, 'application'::text, 'operator'::text])))
);

CREATE INDEX audit_events_by_action ON audit_events USING btree (team_id, action, id);

CREATE INDEX audit_events_by_age ON audit_events USING btree (at);

create table bound_keys (
  team_id integer not null,
  task_id uuid not null,
  sandbox boolean not null,
  key text not null,
  constraint bound_keys_pkey PRIMARY KEY (team_id, task_id, sandbox, key)
);

create table breaker_counts (
  team_id integer not null,
  queue_id bigint not null,
  host text not null,
  at timestamp with time zone not null,
  failed integer not null,
  total integer not null,
  constraint breaker_counts_pkey PRIMARY KEY (team_id, queue_id, host, at),
  constraint breaker_counts_team_id_queue_id_fkey FOREIGN KEY (team_id, queue_id) REFERENCES queues(team_id, id) ON DELETE CASCADE
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);

CREATE INDEX breaker_counts_by_time ON breaker_counts USING btree (at);

create table breaker_tasks (
  team_id integer not null,
  task_id uuid not null,
  queue_id bigint not null,
  host text not null,
  priority smallint not null,
  due_at timestamp with time zone not null,
  fence integer not null,
  passed_at timestamp with time zone,
  constraint breaker_tasks_pkey PRIMARY KEY (team_id, task_id)
);

CREATE INDEX breaker_tasks_held ON breaker_tasks USING btree (team_id, queue_id, host, priority DESC, due_at, task_id) WHERE (passed_at IS NULL);

CREATE INDEX breaker_tasks_passed ON breaker_tasks USING btree (team_id, queue_id, host) WHERE (passed_at IS NOT NULL);

create table breakers (
  team_id integer not null,
  queue_id bigint not null,
  host text not null,
  phase text not null,
  failures integer not null,
  opened_at timestamp with time zone not null,
  until timestamp with time zone not null,
  cooldown integer not null,
  allowed integer not null,
  constraint breakers_pkey PRIMARY KEY (team_id, queue_id, host),
  constraint breakers_team_id_queue_id_fkey FOREIGN KEY (team_id, queue_id) REFERENCES queues(team_id, id) ON DELETE CASCADE
) with (fillfactor=50);

create table bulk_portions (
  team_id integer not null,
  bulk_id uuid not null,
  number integer not null,
  task_ids uuid[] not null,
  constraint bulk_portions_pkey PRIMARY KEY (team_id, bulk_id, number)
);

create table bulks (
  team_id integer not null,
  id uuid not null,
  action text not null,
  environment text not null,
  rate integer not null,
  status text not null,
  matched integer not null,
  done integer not null default 0,
  skipped integer not null default 0,
  next_at timestamp with time zone not null default now(),
  created_at timestamp with time zone not null default now(),
  ended_at timestamp with time zone,
  constraint bulks_pkey PRIMARY KEY (team_id, id),
  constraint bulks_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint bulks_rate_check CHECK (((rate >= 1) AND (rate <= 1000))),
  constraint bulks_turns_are_of_tasks CHECK (((done + skipped) <= matched))
);

CREATE INDEX bulks_due ON bulks USING btree (next_at) WHERE (ended_at IS NULL);

CREATE INDEX bulks_ended ON bulks USING btree (ended_at) WHERE (ended_at IS NOT NULL);

create table claim_batches (
  worker_id bigint not null,
  id bigint not null generated always as identity,
  team_id integer not null,
  task_ids uuid[] not null,
  constraint claim_batches_pkey PRIMARY KEY (worker_id, id)
) with (toast_tuple_target=8160, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);

create table dedupe_keys (
  team_id integer not null,
  sandbox boolean not null,
  key text not null,
  task_id uuid,
  callback_sealed bytea,
  free_at timestamp with time zone not null default now(),
  constraint dedupe_keys_pkey PRIMARY KEY (team_id, sandbox, key)
);

CREATE INDEX dedupe_keys_free ON dedupe_keys USING btree (free_at);

create table events (
  team_id integer not null,
  xid xid8 not null default event_place(),
  seq bigint not null generated always as identity,
  sandbox boolean not null,
  queue text not null,
  at timestamp with time zone not null default now(),
  written_at timestamp with time zone not null default clock_timestamp(),
  entries json not null,
  constraint events_pkey PRIMARY KEY (team_id, xid, seq)
);

CREATE INDEX events_by_age ON events USING btree (at);

create table flow_holds (
  team_id integer not null,
  sandbox boolean not null,
  flow text not null,
  task_id uuid not null,
  fence integer not null,
  permit_at timestamp with time zone,
  constraint flow_holds_pkey PRIMARY KEY (team_id, sandbox, flow, task_id, fence)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);

create table flow_line_tasks (
  team_id integer not null,
  sandbox boolean not null,
  flow text not null,
  task_id uuid not null,
  retries integer not null,
  constraint flow_line_tasks_pkey PRIMARY KEY (team_id, sandbox, flow, task_id)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);

CREATE INDEX flow_line_tasks_by_task ON flow_line_tasks USING btree (team_id, task_id);

create table flow_permits (
  team_id integer not null,
  sandbox boolean not null,
  flow text not null,
  at timestamp with time zone not null,
  count integer not null,
  constraint flow_permits_pkey PRIMARY KEY (team_id, sandbox, flow, at)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);

create table flows (
  team_id integer not null,
  sandbox boolean not null,
  key text not null,
  is_stored boolean not null default false,
  concurrency integer,
  rate integer,
  period integer,
  ordered boolean,
  on_failure text,
  pause_on_retry_after boolean,
  hold text,
  max_waiting integer,
  task_concurrency integer,
  task_rate integer,
  task_period integer,
  task_ordered boolean,
  paused boolean not null default false,
  paused_until timestamp with time zone,
  version bigint not null default 0,
  line_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  used_at timestamp with time zone not null default now(),
  constraint flows_pkey PRIMARY KEY (team_id, sandbox, key)
) with (fillfactor=50);

CREATE INDEX flows_by_use ON flows USING btree (used_at);

create table idempotency_keys (
  team_id integer not null,
  key text not null,
  sandbox boolean not null,
  request_hash bytea not null,
  task_id uuid not null,
  callback_sealed bytea,
  created_at timestamp with time zone not null default now(),
  constraint idempotency_keys_pkey PRIMARY KEY (team_id, key, sandbox)
);

CREATE INDEX idempotency_keys_by_age ON idempotency_keys USING btree (created_at);

create table invitations (
  id uuid not null,
  team_id integer not null,
  email text not null,
  role text not null,
  hash bytea not null,
  invited_by text not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  constraint invitations_pkey PRIMARY KEY (id),
  constraint invitations_email_check CHECK ((email = lower(email))),
  constraint invitations_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text, 'viewer'::text]))),
  constraint invitations_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id),
  constraint invitations_hash_key UNIQUE (hash)
);

CREATE UNIQUE INDEX invitations_by_address ON invitations USING btree (team_id, email);

CREATE INDEX invitations_by_age ON invitations USING btree (expires_at);

create table line_tasks (
  team_id integer not null,
  queue_id bigint not null,
  created_at timestamp with time zone not null,
  task_id uuid not null,
  begun boolean not null,
  retries integer not null default 0,
  constraint line_tasks_pkey PRIMARY KEY (team_id, queue_id, created_at, task_id),
  constraint line_tasks_team_id_queue_id_fkey FOREIGN KEY (team_id, queue_id) REFERENCES queues(team_id, id) ON DELETE CASCADE
);

CREATE INDEX line_tasks_begun ON line_tasks USING btree (team_id, queue_id) WHERE begun;

CREATE INDEX line_tasks_by_task ON line_tasks USING btree (team_id, task_id);

create table listeners (
  team_id integer not null,
  since xid8 not null default pg_current_xact_id(),
  renewed_at timestamp with time zone not null default now(),
  until timestamp with time zone not null,
  constraint listeners_pkey PRIMARY KEY (team_id)
);

CREATE INDEX listeners_by_end ON listeners USING btree (until);

create table message_keys (
  team_id integer not null,
  sandbox boolean not null,
  key bytea not null,
  task_id uuid not null,
  created_at timestamp with time zone not null default now(),
  constraint message_keys_pkey PRIMARY KEY (team_id, sandbox, key)
);

CREATE INDEX message_keys_by_age ON message_keys USING btree (created_at);

create table message_signing_keys (
  team_id integer not null,
  id uuid not null,
  place text not null,
  secret text not null,
  created_at timestamp with time zone not null default now(),
  constraint message_signing_keys_pkey PRIMARY KEY (team_id, id),
  constraint message_signing_keys_place_check CHECK ((place = ANY (ARRAY['current'::text, 'next'::text]))),
  constraint message_signing_keys_team_id_place_key UNIQUE (team_id, place)
);

create table nodes (
  id bigint not null generated always as identity,
  name text not null,
  role text not null,
  version text not null,
  started_at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  worker_id bigint,
  calls_in_flight integer not null,
  max_in_flight integer not null,
  clock_offset_ms double precision not null,
  loop_lag_ms double precision not null,
  constraint nodes_pkey PRIMARY KEY (id),
  constraint nodes_role_check CHECK ((role = ANY (ARRAY['all'::text, 'api'::text, 'worker'::text])))
);

create table notifications (
  team_id integer not null,
  id uuid not null,
  task_id uuid not null,
  url text not null,
  status text not null default 'pending'::text,
  attempts integer not null default 0,
  next_at timestamp with time zone not null default now(),
  fence integer not null default 0,
  worker_id bigint,
  last_error text,
  created_at timestamp with time zone not null default now(),
  constraint notifications_pkey PRIMARY KEY (team_id, id),
  constraint notifications_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])))
);

CREATE INDEX notifications_by_task ON notifications USING btree (team_id, task_id);

CREATE INDEX notifications_due ON notifications USING btree (team_id, next_at) WHERE ((status = 'pending'::text) AND (worker_id IS NULL));

CREATE INDEX notifications_held ON notifications USING btree (worker_id) WHERE (worker_id IS NOT NULL);

create table oauth_applications (
  id uuid not null,
  team_id integer not null,
  name text not null,
  secret_hash bytea not null,
  redirect_uris text[] not null,
  scopes text[] not null,
  grant_types text[] not null,
  created_at timestamp with time zone not null default now(),
  constraint oauth_applications_pkey PRIMARY KEY (id),
  constraint oauth_applications_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id)
);

CREATE INDEX oauth_applications_by_team ON oauth_applications USING btree (team_id, id);

create table oauth_codes (
  hash bytea not null,
  consent_id uuid not null,
  application_id uuid not null,
  team_id integer not null,
  user_id uuid not null,
  scopes text[] not null,
  redirect_uri text not null,
  code_challenge text not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  replayed_at timestamp with time zone,
  constraint oauth_codes_pkey PRIMARY KEY (hash),
  constraint oauth_codes_application_id_fkey FOREIGN KEY (application_id) REFERENCES oauth_applications(id) ON DELETE CASCADE,
  constraint oauth_codes_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id),
  constraint oauth_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);

CREATE INDEX oauth_codes_by_age ON oauth_codes USING btree (expires_at);

CREATE INDEX oauth_codes_by_application ON oauth_codes USING btree (application_id);

CREATE INDEX oauth_codes_by_user ON oauth_codes USING btree (user_id, team_id);

create table oauth_tokens (
  id uuid not null,
  access_hash bytea not null,
  refresh_hash bytea,
  application_id uuid not null,
  team_id integer not null,
  user_id uuid,
  code_hash bytea,
  consent_id uuid,
  consented_at timestamp with time zone,
  scopes text[] not null,
  granted_scopes text[],
  created_at timestamp with time zone not null default now(),
  access_expires_at timestamp with time zone not null,
  refresh_expires_at timestamp with time zone,
  refreshed_at timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint oauth_tokens_pkey PRIMARY KEY (id),
  constraint oauth_tokens_check CHECK ((num_nulls(code_hash, consent_id, consented_at) = ANY (ARRAY[0, 3]))),
  constraint oauth_tokens_application_id_fkey FOREIGN KEY (application_id) REFERENCES oauth_applications(id) ON DELETE CASCADE,
  constraint oauth_tokens_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id),
  constraint oauth_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  constraint oauth_tokens_access_hash_key UNIQUE (access_hash),
  constraint oauth_tokens_refresh_hash_key UNIQUE (refresh_hash)
);

CREATE INDEX oauth_tokens_by_age ON oauth_tokens USING btree (GREATEST(access_expires_at, refresh_expires_at));

CREATE INDEX oauth_tokens_by_application ON oauth_tokens USING btree (application_id);

CREATE INDEX oauth_tokens_by_code ON oauth_tokens USING btree (code_hash, access_expires_at) WHERE (code_hash IS NOT NULL);

CREATE INDEX oauth_tokens_by_consent ON oauth_tokens USING btree (team_id, consent_id) WHERE ((consent_id IS NOT NULL) AND (refreshed_at IS NULL) AND (revoked_at IS NULL));

CREATE INDEX oauth_tokens_by_user ON oauth_tokens USING btree (user_id, team_id) WHERE (user_id IS NOT NULL);

create table queue_lines (
  team_id integer not null,
  queue_id bigint not null,
  looked_at timestamp with time zone not null,
  constraint queue_lines_pkey PRIMARY KEY (team_id, queue_id),
  constraint queue_lines_team_id_queue_id_fkey FOREIGN KEY (team_id, queue_id) REFERENCES queues(team_id, id) ON DELETE CASCADE
) with (fillfactor=50);

create table queue_permits (
  team_id integer not null,
  queue_id bigint not null,
  at timestamp with time zone not null,
  count integer not null,
  constraint queue_permits_pkey PRIMARY KEY (team_id, queue_id, at),
  constraint queue_permits_team_id_queue_id_fkey FOREIGN KEY (team_id, queue_id) REFERENCES queues(team_id, id) ON DELETE CASCADE
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);

create table queue_slots (
  team_id integer not null,
  queue_id bigint not null,
  worker_id bigint not null,
  slots integer not null,
  constraint queue_slots_pkey PRIMARY KEY (team_id, queue_id, worker_id),
  constraint queue_slots_slots_check CHECK ((slots >= 0)),
  constraint queue_slots_team_id_queue_id_fkey FOREIGN KEY (team_id, queue_id) REFERENCES queues(team_id, id) ON DELETE CASCADE,
  constraint queue_slots_worker_id_fkey FOREIGN KEY (worker_id) REFERENCES workers(id) ON DELETE CASCADE
);

CREATE INDEX queue_slots_by_worker ON queue_slots USING btree (worker_id);

create table queue_stats (
  team_id integer not null,
  queue_id bigint not null,
  sandbox boolean not null,
  seconds integer not null,
  at timestamp with time zone not null,
  node bigint not null,
  created integer not null default 0,
  completed integer not null default 0,
  failed integer not null default 0,
  cancelled integer not null default 0,
  retried integer not null default 0,
  waits integer[],
  durations integer[],
  pending bigint,
  constraint queue_stats_pkey PRIMARY KEY (team_id, seconds, at, queue_id, sandbox, node),
  constraint queue_stats_seconds_check CHECK ((seconds = ANY (ARRAY[60, 300, 3600])))
);

CREATE INDEX queue_stats_by_age ON queue_stats USING btree (seconds, at);

create table queue_tallies (
  team_id integer not null,
  queue_id bigint not null,
  worker_id bigint not null,
  statement smallint not null,
  sandbox boolean not null default false,
  pending bigint not null default 0,
  active bigint not null default 0,
  waiting bigint not null default 0,
  polling bigint not null default 0,
  completed bigint not null default 0,
  failed bigint not null default 0,
  cancelled bigint not null default 0,
  constraint queue_tallies_pkey PRIMARY KEY (team_id, queue_id, worker_id, statement, sandbox)
) with (fillfactor=50);

create table queues (
  team_id integer not null,
  id bigint not null generated always as identity,
  name text not null,
  concurrency integer not null,
  rate integer,
  rate_period integer,
  max_retries smallint not null,
  backoff text not null,
  retry_delay_seconds integer not null,
  retry_max_delay_seconds integer not null default 3600,
  no_retry_statuses smallint[],
  timeout_seconds integer not null,
  ordered boolean not null default false,
  on_failure text not null default 'continue'::text,
  breaker jsonb,
  holds_hosts boolean not null default false,
  paused boolean not null default false,
  epoch integer not null default 1,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  deleted_at timestamp with time zone,
  constraint queues_pkey PRIMARY KEY (team_id, id),
  constraint queues_backoff_check CHECK ((backoff = ANY (ARRAY['fixed'::text, 'exponential'::text]))),
  constraint queues_concurrency_check CHECK (((concurrency >= 1) AND (concurrency <= 1000))),
  constraint queues_max_retries_check CHECK (((max_retries >= 0) AND (max_retries <= 100))),
  constraint queues_retry_delay_seconds_check CHECK (((retry_delay_seconds >= 0) AND (retry_delay_seconds <= 3600))),
  constraint queues_retry_max_delay_seconds_check CHECK (((retry_max_delay_seconds >= 1) AND (retry_max_delay_seconds <= 86400))),
  constraint queues_timeout_seconds_check CHECK (((timeout_seconds >= 1) AND (timeout_seconds <= 3600))),
  constraint queues_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id)
);

CREATE UNIQUE INDEX queues_by_name ON queues USING btree (team_id, name) WHERE (deleted_at IS NULL);

CREATE INDEX queues_deleted ON queues USING btree (team_id, id) WHERE (deleted_at IS NOT NULL);

CREATE INDEX queues_ordered ON queues USING btree (team_id, id) WHERE ordered;

create table redeliveries (
  team_id integer not null,
  delivery_id uuid not null,
  message_id uuid not null,
  constraint redeliveries_pkey PRIMARY KEY (team_id, delivery_id)
);

create table sandbox_clocks (
  team_id integer not null,
  ahead_seconds bigint not null,
  constraint sandbox_clocks_pkey PRIMARY KEY (team_id)
);

create table schedule_firings (
  team_id integer not null,
  schedule_id uuid not null,
  task_id uuid not null,
  fires_at timestamp with time zone,
  constraint schedule_firings_pkey PRIMARY KEY (team_id, schedule_id, task_id)
);

CREATE UNIQUE INDEX schedule_firings_by_time ON schedule_firings USING btree (team_id, schedule_id, fires_at);

create table schedules (
  team_id integer not null,
  id uuid not null,
  sandbox boolean not null,
  name text not null,
  cron text not null,
  timezone text not null,
  overlap text not null,
  catch_up text not null,
  task text not null,
  request text not null,
  next_run_at timestamp with time zone,
  ahead_seconds bigint not null default 0,
  fan_out jsonb,
  last_task_id uuid,
  last_error text,
  last_error_at timestamp with time zone,
  errors_in_row integer not null default 0,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint schedules_pkey PRIMARY KEY (team_id, id),
  constraint schedules_catch_up_check CHECK ((catch_up = ANY (ARRAY['one'::text, 'none'::text]))),
  constraint schedules_check CHECK (((last_error IS NULL) = (last_error_at IS NULL))),
  constraint schedules_overlap_check CHECK ((overlap = ANY (ARRAY['allow'::text, 'skip'::text])))
);

CREATE UNIQUE INDEX schedules_by_name ON schedules USING btree (team_id, sandbox, name);

CREATE INDEX schedules_due_by_team ON schedules USING btree (team_id, next_run_at) WHERE (next_run_at IS NOT NULL);

create table schema_migrations (
  version integer not null,
  name text not null,
  hash text not null,
  oldest_node integer not null,
  applied_at timestamp with time zone not null default now(),
  constraint schema_migrations_pkey PRIMARY KEY (version)
);

create table session_keys (
  id text not null,
  secret bytea not null,
  created_at timestamp with time zone not null default now(),
  constraint session_keys_pkey PRIMARY KEY (id)
);

create table sessions (
  hash bytea not null,
  user_id uuid not null,
  team_id integer not null,
  is_bound boolean not null default false,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  constraint sessions_pkey PRIMARY KEY (hash),
  constraint sessions_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id),
  constraint sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);

CREATE INDEX sessions_by_age ON sessions USING btree (expires_at);

CREATE INDEX sessions_by_user ON sessions USING btree (user_id, team_id);

create table sign_in_links (
  email text not null,
  hash bytea not null,
  next_path text,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  constraint sign_in_links_pkey PRIMARY KEY (email),
  constraint sign_in_links_email_check CHECK ((email = lower(email))),
  constraint sign_in_links_hash_key UNIQUE (hash)
);

CREATE INDEX sign_in_links_by_age ON sign_in_links USING btree (expires_at);

create table signing_secrets (
  team_id integer not null,
  id uuid not null,
  secret text not null,
  created_at timestamp with time zone not null default now(),
  valid_until timestamp with time zone,
  constraint signing_secrets_pkey PRIMARY KEY (team_id, id),
  constraint signing_secrets_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id)
);

CREATE UNIQUE INDEX signing_secrets_current ON signing_secrets USING btree (team_id) WHERE (valid_until IS NULL);

create table simulations (
  team_id integer not null,
  task_id uuid not null,
  said jsonb,
  next_at timestamp with time zone,
  constraint simulations_pkey PRIMARY KEY (team_id, task_id)
);

CREATE INDEX simulations_due ON simulations USING btree (next_at) WHERE (next_at IS NOT NULL);

create table source_hits (
  source text not null,
  hits timestamp with time zone[] not null,
  granted integer not null,
  looked_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint source_hits_pkey PRIMARY KEY (source)
);

CREATE INDEX source_hits_by_age ON source_hits USING btree (expires_at);

create table task_tags (
  team_id integer not null,
  tag text not null,
  task_id uuid not null,
  constraint task_tags_pkey PRIMARY KEY (team_id, tag, task_id)
);

create table tasks (
  team_id integer not null,
  id uuid not null,
  queue_id bigint not null,
  shape text not null,
  status text not null,
  priority smallint not null,
  sandbox boolean not null,
  method text not null,
  url text not null,
  headers jsonb,
  body text,
  body_is_json boolean not null default false,
  sign boolean not null default false,
  timeout_seconds integer not null,
  tags text[],
  metadata jsonb,
  max_retries smallint not null,
  backoff text not null,
  retry_delay_seconds integer not null,
  provider text,
  poll_config jsonb,
  wait_for_callback boolean not null default false,
  max_wait_seconds integer,
  callback_hash bytea,
  callback_sealed bytea,
  on_complete_url text,
  idempotency_key text,
  run_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  started_at timestamp with time zone,
  deadline_at timestamp with time zone,
  completed_at timestamp with time zone,
  fence integer not null default 0,
  worker_id bigint,
  attempt_count integer not null default 0,
  attempt_started_at timestamp with time zone,
  failures integer not null default 0,
  interruptions integer not null default 0,
  attempts jsonb not null default '[]'::jsonb,
  poll jsonb,
  result jsonb,
  error text,
  failure_reason text,
  retries integer not null default 0,
  expires_in_seconds integer,
  retry_max_delay_seconds integer,
  no_retry_statuses smallint[],
  schedule_id uuid,
  due_at timestamp with time zone,
  poll_at timestamp with time zone,
  list_key text not null,
  flow text,
  flow_due_at timestamp with time zone,
  dismissed_at timestamp with time zone,
  on_failure_url text,
  scheduled_for timestamp with time zone,
  retried_with jsonb,
  dedupe jsonb,
  message jsonb,
  constraint tasks_pkey PRIMARY KEY (team_id, id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.05, autovacuum_vacuum_insert_scale_factor=0.1, fillfactor=40);

CREATE INDEX tasks_by_callback ON tasks USING btree (callback_hash) WHERE (callback_hash IS NOT NULL);

CREATE INDEX tasks_claimable ON tasks USING btree (team_id, queue_id, priority DESC, due_at, id) WHERE (due_at IS NOT NULL);

CREATE INDEX tasks_deadlines ON tasks USING btree (deadline_at) WHERE (deadline_at IS NOT NULL);

CREATE INDEX tasks_due ON tasks USING btree (due_at) WHERE ((due_at IS NOT NULL) AND (priority > 0));

CREATE INDEX tasks_flow_claimable ON tasks USING btree (team_id, flow, queue_id, priority DESC, flow_due_at, id) WHERE (flow_due_at IS NOT NULL);

CREATE INDEX tasks_flow_due ON tasks USING btree (flow_due_at) WHERE ((flow_due_at IS NOT NULL) AND (priority > 0));

CREATE INDEX tasks_listed ON tasks USING btree (team_id, queue_id, sandbox, list_key, id);

CREATE INDEX tasks_polls_due ON tasks USING btree (team_id, poll_at) WHERE (poll_at IS NOT NULL);

create table team_members (
  team_id integer not null,
  user_id uuid not null,
  role text not null,
  joined_at timestamp with time zone not null default now(),
  constraint team_members_pkey PRIMARY KEY (team_id, user_id),
  constraint team_members_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text, 'viewer'::text]))),
  constraint team_members_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id),
  constraint team_members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);

CREATE INDEX team_members_by_user ON team_members USING btree (user_id, joined_at);

create table teams (
  id integer not null generated always as identity,
  public_id uuid not null default gen_random_uuid(),
  name text not null,
  plan text not null,
  requests_per_minute integer,
  limits jsonb,
  created_at timestamp with time zone not null default now(),
  constraint teams_pkey PRIMARY KEY (id),
  constraint teams_plan_check CHECK ((plan = ANY (ARRAY['free'::text, 'pro'::text, 'enterprise'::text]))),
  constraint teams_requests_per_minute_check CHECK ((requests_per_minute > 0)),
  constraint teams_public_id_key UNIQUE (public_id)
);

create table url_groups (
  team_id integer not null,
  name text not null,
  endpoints jsonb not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint url_groups_pkey PRIMARY KEY (team_id, name)
);

create table users (
  id uuid not null,
  email text not null,
  created_at timestamp with time zone not null default now(),
  constraint users_pkey PRIMARY KEY (id),
  constraint users_email_check CHECK ((email = lower(email))),
  constraint users_email_key UNIQUE (email)
);

create table vault_tokens (
  team_id integer not null,
  id uuid not null,
  sandbox boolean not null default false,
  name text not null,
  allowed_hosts text[],
  key_id text not null,
  sealed bytea,
  created_at timestamp with time zone not null default now(),
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint vault_tokens_pkey PRIMARY KEY (team_id, id),
  constraint vault_tokens_revoked_is_wiped CHECK (((revoked_at IS NULL) = (sealed IS NOT NULL))),
  constraint vault_tokens_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id)
);

CREATE INDEX vault_tokens_by_key ON vault_tokens USING btree (key_id) WHERE (revoked_at IS NULL);

create table webhook_deliveries (
  team_id integer not null,
  id uuid not null,
  webhook_id uuid not null,
  event text not null,
  body text not null,
  status text not null default 'pending'::text,
  attempts integer not null default 0,
  next_at timestamp with time zone not null default now(),
  fence integer not null default 0,
  worker_id bigint,
  response_code smallint,
  last_error text,
  created_at timestamp with time zone not null default now(),
  constraint webhook_deliveries_pkey PRIMARY KEY (team_id, id),
  constraint webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])))
);

CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries USING btree (created_at);

CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries USING btree (team_id, webhook_id, id);

CREATE INDEX webhook_deliveries_due ON webhook_deliveries USING btree (team_id, next_at) WHERE ((status = 'pending'::text) AND (worker_id IS NULL));

CREATE INDEX webhook_deliveries_held ON webhook_deliveries USING btree (worker_id) WHERE (worker_id IS NOT NULL);

create table webhook_readers (
  team_id integer not null,
  xid xid8 not null,
  seq bigint not null,
  index integer not null,
  constraint webhook_readers_pkey PRIMARY KEY (team_id)
);

create table webhooks (
  team_id integer not null,
  id uuid not null,
  url text not null,
  events text[] not null,
  queue text,
  tag text,
  enabled boolean not null,
  disabled_at timestamp with time zone,
  failing_since timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint webhooks_pkey PRIMARY KEY (team_id, id)
);

create table workers (
  id bigint not null generated always as identity,
  name text not null,
  started_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  constraint workers_pkey PRIMARY KEY (id)
);
