/** Keys that join requests: idempotency keys, deduplication keys, and those of messages. */
export const keys = `
-- A key of the sandbox says nothing about the same live key. callback_sealed is the id of the task's callback, which the answer to a
-- repeated request contains too.
create table idempotency_keys (
  team_id         integer not null,
  key             text not null,
  sandbox         boolean not null,
  request_hash    bytea not null,
  task_id         uuid not null,
  callback_sealed bytea,
  created_at      timestamptz not null default now(),
  primary key (team_id, key, sandbox)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- One row per deduplication key that was used lately. Its lock makes requests with the same key take turns. A row without a
-- task_id was locked for a request that was then refused. Whether the last task still holds the key follows from the task itself.
-- The janitor looks at the row at free_at.
create table dedupe_keys (
  team_id         integer not null,
  sandbox         boolean not null,
  key             text not null,
  task_id         uuid,
  callback_sealed bytea,
  free_at         timestamptz not null default now(),
  primary key (team_id, sandbox, key)
);
create index dedupe_keys_free on dedupe_keys (free_at);

-- The idempotency keys of requests that were answered with the task of an earlier request, and of the request that created it.
-- They are freed when the task is deleted.
create table bound_keys (
  team_id integer not null,
  task_id uuid not null,
  sandbox boolean not null,
  key     text not null,
  primary key (team_id, task_id, sandbox, key)
);

-- The first message of the QStash-compatible API with a deduplication id, or with a content; key is a hash of either.
create table message_keys (
  team_id    integer not null,
  sandbox    boolean not null,
  key        bytea not null,
  task_id    uuid not null,
  created_at timestamptz not null default now(),
  primary key (team_id, sandbox, key)
);
create index message_keys_by_age on message_keys (created_at);
`;
