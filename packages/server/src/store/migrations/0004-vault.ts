/** What Bellhop keeps secret for a team: third parties' credentials, and the secrets that sign its own calls. */
export const vault = `
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
`;
