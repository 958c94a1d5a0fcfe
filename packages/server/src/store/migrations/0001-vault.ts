/** The secrets of a team: credentials for the services that it calls, and the secrets that sign Bellhop's own calls. */
export const vault = `
-- A revoked token loses its value and keeps its row, so that tasks can say what happened to it. sandbox: the token belongs to test
-- keys. last_used_at is when a call last contained it; null if none has.
create table vault_tokens (
  team_id       integer not null references teams,
  id            uuid not null,
  sandbox       boolean not null default false,
  name          text not null,
  allowed_hosts text[],
  key_id        text not null,
  sealed        bytea,
  created_at    timestamptz not null default now(),
  last_used_at  timestamptz,
  revoked_at    timestamptz,
  primary key (team_id, id),
  constraint vault_tokens_revoked_is_wiped check ((revoked_at is null) = (sealed is not null))
);
create index vault_tokens_by_key on vault_tokens (key_id) where revoked_at is null;

-- During a rotation two secrets sign: the older one until valid_until.
create table signing_secrets (
  team_id     integer not null references teams,
  id          uuid not null,
  secret      text not null,
  created_at  timestamptz not null default now(),
  valid_until timestamptz,
  primary key (team_id, id)
);
create unique index signing_secrets_current on signing_secrets (team_id) where valid_until is null;

-- The keys that sign the calls of messages of the QStash-compatible API: the current one and the next one. Sealed like
-- signing_secrets.
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
