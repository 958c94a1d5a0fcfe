/** The QStash-compatible API. A message is a task with a value in `message`. */
export const messages = `
alter table tasks add column message jsonb;

-- Named lists of endpoints. A message to a group becomes one task per endpoint.
create table url_groups (
  team_id    integer not null,
  name       text not null,
  endpoints  jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (team_id, name)
);

-- The first message with a deduplication id, or with a content; the key is a hash of either.
create table message_keys (
  team_id    integer not null,
  sandbox    boolean not null,
  key        bytea not null,
  task_id    uuid not null,
  created_at timestamptz not null default now(),
  primary key (team_id, sandbox, key)
);
create index message_keys_by_age on message_keys (created_at);

-- The keys that sign the calls of messages: the current one and the next one. Sealed like signing_secrets.
create table message_signing_keys (
  team_id    integer not null,
  id         uuid not null,
  place      text not null check (place in ('current', 'next')),
  secret     text not null,
  created_at timestamptz not null default now(),
  primary key (team_id, id),
  unique (team_id, place)
);
`;
