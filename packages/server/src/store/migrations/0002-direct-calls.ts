/** Direct calls: stored credentials, jobs that outlive their first call, callbacks, signatures, notifications. */
export const directCalls = `
-- poll_config is what the provider's entry said when the task was created: a later catalog changes nothing.
-- poll holds how the polling goes, so that any node can carry on. deadline_at ends a wait or a polling.
-- callback_hash finds the task of a callback; callback_sealed is the id itself, kept only where the call must
-- name it, and readable only with the vault's key.
alter table tasks
  add column provider         text,
  add column poll_config      jsonb,
  add column poll             jsonb,
  add column wait_for_callback boolean not null default false,
  add column max_wait_seconds integer,
  add column deadline_at      timestamptz,
  add column callback_hash    bytea,
  add column callback_sealed  bytea,
  add column on_complete_url  text,
  add column sign             boolean not null default false,
  add column idempotency_key  text,
  add constraint tasks_follow_one_way check (poll_config is null or not wait_for_callback),
  add constraint tasks_wait_has_end check ((status in ('waiting', 'polling')) = (deadline_at is not null));
create index tasks_polls_due on tasks (run_at) where status = 'polling' and worker_id is null;
create index tasks_deadlines on tasks (deadline_at) where deadline_at is not null;
create index tasks_by_callback on tasks (callback_hash) where callback_hash is not null;

-- A revoked token keeps its row, so that tasks can say what happened to it, and loses its value.
create table vault_tokens (
  team_id       integer not null references teams,
  id            uuid not null,
  name          text not null,
  allowed_hosts text[],
  key_id        text not null,
  sealed        bytea,
  created_at    timestamptz not null default now(),
  revoked_at    timestamptz,
  primary key (team_id, id),
  constraint vault_tokens_revoked_is_wiped check ((revoked_at is null) = (sealed is not null))
);
create index vault_tokens_by_key on vault_tokens (key_id) where revoked_at is null;

-- Two secrets sign while one replaces the other: the older until valid_until.
create table signing_secrets (
  team_id     integer not null references teams,
  id          uuid not null,
  secret      text not null,
  created_at  timestamptz not null default now(),
  valid_until timestamptz,
  primary key (team_id, id)
);
create unique index signing_secrets_current on signing_secrets (team_id) where valid_until is null;

-- Written in the statement that ends the task. It has a life of its own and never changes the task.
create table notifications (
  team_id    integer not null,
  id         uuid not null,
  task_id    uuid not null,
  url        text not null,
  status     text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts   integer not null default 0,
  next_at    timestamptz not null default now(),
  fence      integer not null default 0,
  worker_id  bigint,
  last_error text,
  created_at timestamptz not null default now(),
  primary key (team_id, id)
);
create index notifications_due on notifications (next_at) where status = 'pending' and worker_id is null;
create index notifications_held on notifications (worker_id) where worker_id is not null;
create index notifications_by_task on notifications (team_id, task_id);

-- A key used in the sandbox says nothing about the same key used for real.
create table idempotency_keys (
  team_id      integer not null,
  key          text not null,
  sandbox      boolean not null,
  request_hash bytea not null,
  task_id      uuid not null,
  created_at   timestamptz not null default now(),
  primary key (team_id, key, sandbox)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- The instants of the last hits of one source, to limit them exactly and over all nodes.
create table source_hits (
  source  text primary key,
  hits    timestamptz[] not null,
  last_at timestamptz not null
);
create index source_hits_by_age on source_hits (last_at);
`;
