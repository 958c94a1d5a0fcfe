/**
 * Who may call: teams with their keys, people with their sessions, applications with their tokens; the audit log, and the hits that
 * limit sources. Keys, sessions, links and tokens are found by a hash before the team is known, so their tables do not begin with
 * the team. They are small.
 */
export const identity = `
-- Callers know a team by public_id; id stays inside. requests_per_minute is null where the plan decides. limits has, by name, the
-- limits that differ from the plan; null in it means no limit.
create table teams (
  id                  integer generated always as identity primary key,
  public_id           uuid not null unique default gen_random_uuid(),
  name                text not null,
  plan                text not null check (plan in ('free', 'pro', 'enterprise')),
  requests_per_minute integer check (requests_per_minute > 0),
  limits              jsonb,
  created_at          timestamptz not null default now()
);

-- is_setting marks the keys that BELLHOP_API_KEY has set so far; only the latest of them is valid.
create table api_keys (
  id           uuid primary key,
  team_id      integer not null references teams,
  name         text not null,
  environment  text not null check (environment in ('live', 'test')),
  is_setting   boolean not null default false,
  prefix       text not null,
  hash         bytea not null unique,
  created_at   timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_at   timestamptz
);
create index active_api_keys on api_keys (team_id, created_at) where revoked_at is null;

create table users (
  id         uuid primary key,
  email      text not null unique check (email = lower(email)),
  created_at timestamptz not null default now()
);

create table team_members (
  team_id   integer not null references teams,
  user_id   uuid not null references users,
  role      text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  joined_at timestamptz not null default now(),
  primary key (team_id, user_id)
);
create index team_members_by_user on team_members (user_id, joined_at);

-- A mailed link to join a team. It works once, like a sign-in link, and is valid for days.
create table invitations (
  id         uuid primary key,
  team_id    integer not null references teams,
  email      text not null check (email = lower(email)),
  role       text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  hash       bytea not null unique,
  invited_by text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create unique index invitations_by_address on invitations (team_id, email);
create index invitations_by_age on invitations (expires_at);

-- At most one per address: a new link replaces the earlier one.
create table sign_in_links (
  email      text primary key check (email = lower(email)),
  hash       bytea not null unique,
  next_path  text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index sign_in_links_by_age on sign_in_links (expires_at);

-- hash is that of the secret id inside the token: a person who reads this table cannot make a token, even with the signing key.
-- is_bound: the session does not lead to other teams of the person.
create table sessions (
  hash       bytea primary key,
  user_id    uuid not null references users,
  team_id    integer not null references teams,
  is_bound   boolean not null default false,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index sessions_by_user on sessions (user_id, team_id);
create index sessions_by_age on sessions (expires_at);

-- These keys sign session and access tokens where the operator has set no key. The newest signs; all of them verify.
create table session_keys (
  id         text primary key,
  secret     bytea not null,
  created_at timestamptz not null default now()
);

create table oauth_applications (
  id            uuid primary key,
  team_id       integer not null references teams,
  name          text not null,
  secret_hash   bytea not null,
  redirect_uris text[] not null,
  scopes        text[] not null,
  grant_types   text[] not null,
  created_at    timestamptz not null default now()
);
create index oauth_applications_by_team on oauth_applications (team_id, id);

-- used_at is set by the one exchange that may succeed, replayed_at by any further one. From then on every token of this code is
-- invalid, also one that the first exchange is about to store. Callers know the consent by consent_id.
create table oauth_codes (
  hash           bytea primary key,
  consent_id     uuid not null,
  application_id uuid not null references oauth_applications on delete cascade,
  team_id        integer not null references teams,
  user_id        uuid not null references users,
  scopes         text[] not null,
  redirect_uri   text not null,
  code_challenge text not null,
  created_at     timestamptz not null default now(),
  expires_at     timestamptz not null,
  used_at        timestamptz,
  replayed_at    timestamptz
);
create index oauth_codes_by_age on oauth_codes (expires_at);
create index oauth_codes_by_user on oauth_codes (user_id, team_id);
create index oauth_codes_by_application on oauth_codes (application_id);

-- One row per access token, with the refresh token that was issued beside it. All tokens of one consent are a family. user_id is
-- null for an application that acts for its own team. The consent is copied from token to token, because the code is removed
-- after a day. granted_scopes is what the consent allows, where the token was requested with fewer scopes: a later refresh may
-- request all of them again. Null: the scopes of the token.
create table oauth_tokens (
  id                 uuid primary key,
  access_hash        bytea not null unique,
  refresh_hash       bytea unique,
  application_id     uuid not null references oauth_applications on delete cascade,
  team_id            integer not null references teams,
  user_id            uuid references users,
  code_hash          bytea,
  consent_id         uuid,
  consented_at       timestamptz,
  scopes             text[] not null,
  granted_scopes     text[],
  created_at         timestamptz not null default now(),
  access_expires_at  timestamptz not null,
  refresh_expires_at timestamptz,
  refreshed_at       timestamptz,
  revoked_at         timestamptz,
  check (num_nulls(code_hash, consent_id, consented_at) in (0, 3))
);
create index oauth_tokens_by_code on oauth_tokens (code_hash, access_expires_at) where code_hash is not null;
-- Only the last token of each family: a busy family has hundreds before it.
create index oauth_tokens_by_consent on oauth_tokens (team_id, consent_id)
  where consent_id is not null and refreshed_at is null and revoked_at is null;
create index oauth_tokens_by_application on oauth_tokens (application_id);
create index oauth_tokens_by_user on oauth_tokens (user_id, team_id) where user_id is not null;
create index oauth_tokens_by_age on oauth_tokens (greatest(access_expires_at, refresh_expires_at));

create table audit_events (
  team_id    integer not null,
  id         uuid not null,
  at         timestamptz not null default now(),
  actor_kind text not null check (actor_kind in ('api_key', 'session', 'application', 'operator')),
  actor_id   text not null,
  actor_name text not null,
  action     text not null,
  target     text not null,
  detail     jsonb,
  address    text,
  request_id text,
  primary key (team_id, id)
);
create index audit_events_by_action on audit_events (team_id, action, id);
create index audit_events_by_age on audit_events (at);

-- The instants of the last hits of one source, so that the limit is exact and holds over all nodes; and what the last look at them
-- granted, and when. expires_at is rounded to the minute, so that most hits change no index.
create table source_hits (
  source     text primary key,
  hits       timestamptz[] not null,
  granted    integer not null,
  looked_at  timestamptz not null,
  expires_at timestamptz not null
);
create index source_hits_by_age on source_hits (expires_at);
`;
