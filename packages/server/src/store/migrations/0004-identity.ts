/**
 * Who may call: teams and their keys, people and their sessions, applications, and the record of what they changed. What
 * is looked up by a hash before the team is known (keys, sessions, links, tokens) is small and the same everywhere, like
 * teams.
 */
export const identity = `
-- public_id is how the world names a team; id stays inside. requests_per_minute is null where the plan decides.
create table teams (
  id                  integer generated always as identity primary key,
  public_id           uuid not null unique default gen_random_uuid(),
  name                text not null,
  plan                text not null check (plan in ('free', 'pro', 'enterprise')),
  requests_per_minute integer check (requests_per_minute > 0),
  created_at          timestamptz not null default now()
);

-- is_setting marks keys that the operator set by BELLHOP_API_KEY, now or before; of these only the latest counts.
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

-- A link that was mailed to join a team. It is single use, like a sign-in link, but lives for days.
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

-- At most one per address: asking for another takes the older out of use.
create table sign_in_links (
  email      text primary key check (email = lower(email)),
  hash       bytea not null unique,
  next_path  text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index sign_in_links_by_age on sign_in_links (expires_at);

-- The hash is that of the secret id inside the token, so that even with the signing key nobody who only reads this
-- table can make a token. One that is bound does not lead to other teams of the person.
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

-- Sign session and access tokens where the operator has set no key. The newest signs, all of them verify.
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

-- used_at is set by the one exchange that may succeed, replayed_at by any further: from then on no token of this code
-- counts, also one that the first exchange is about to store. consent_id is how the world names what was allowed.
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

-- One row per access token, with the refresh token issued beside it. All that descend from one consent are a family.
-- user_id is null for an application that acts for its own team. What is known of the consent is copied from token to
-- token: the code is gone after a day.
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
  created_at         timestamptz not null default now(),
  access_expires_at  timestamptz not null,
  refresh_expires_at timestamptz,
  refreshed_at       timestamptz,
  revoked_at         timestamptz,
  check (num_nulls(code_hash, consent_id, consented_at) in (0, 3))
);
create index oauth_tokens_by_code on oauth_tokens (code_hash, access_expires_at) where code_hash is not null;
-- The last of each family: of a busy one there are hundreds before it.
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

-- The instants of the last hits of one source, to limit them exactly and over all nodes; and what the last look at them
-- gave, and when. expires_at is to the minute, so that most hits change no index.
create table source_hits (
  source     text primary key,
  hits       timestamptz[] not null,
  granted    integer not null,
  looked_at  timestamptz not null,
  expires_at timestamptz not null
);
create index source_hits_by_age on source_hits (expires_at);
`;
