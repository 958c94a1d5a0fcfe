// All tokens of one authorization descend from one code: the tokens it was exchanged for, and those of every refresh
// since. They end together. The race: a running refresh stores a token that a concurrent revocation does not see yet.
// So the revocation first locks every existing token, which waits for the refresh (it holds the token that it
// replaces), and only then, in a second statement, selects the tokens.
import type { Plan } from "../../domain/identity/plan.ts";
import type { Role } from "../../domain/identity/role.ts";
import type { Scope } from "../../domain/identity/scope.ts";
import type { OwnLimits } from "../../domain/limits.ts";
import { type Sql, statement } from "../sql.ts";

export interface NewAccessToken {
  readonly id: string;
  readonly applicationId: string;
  readonly teamId: number;
  /** Null for an application that acts for its own team. */
  readonly userId: string | null;
  readonly codeHash: Buffer | null;
  readonly scopes: readonly Scope[];
  /** The scopes that a later refresh may request; null means `scopes`. */
  readonly grantedScopes: readonly Scope[] | null;
  readonly accessHash: Buffer;
  readonly accessValidSeconds: number;
  /** Null for an access token without one beside it. */
  readonly refreshHash: Buffer | null;
  readonly refreshValidDays: number;
}

const INSERT_ACCESS_TOKEN = statement(
  "insert_access_token",
  `insert into oauth_tokens
     (id, application_id, team_id, user_id, code_hash, scopes, access_hash, access_expires_at,
      refresh_hash, refresh_expires_at, granted_scopes, consent_id, consented_at)
   select $1, $2, $3, $4, $5, $6, $7, date_trunc('second', now()) + make_interval(secs => $8),
          $9::bytea, case when $9::bytea is not null then now() + make_interval(days => $10) end, $11::text[],
          consent.id, consent.at
     from (select 1) as one
     left join (select consent_id as id, created_at as at from oauth_codes where hash = $5
                union all
                select consent_id, consented_at from oauth_tokens where code_hash = $5
                limit 1) as consent on true
    where not exists (select 1 from oauth_codes where hash = $5 and replayed_at is not null)
   returning access_expires_at as "expiresAt"`,
);

/**
 * The expiry of the access token, to the second, like the time inside it. Null for a token of a replayed code: it is
 * not created. The data of the consent comes from the code or, once that is deleted, from the refreshed token.
 */
export async function insertAccessToken(sql: Sql, token: NewAccessToken): Promise<Date | null> {
  const [row] = await sql.rows<{ expiresAt: Date }>(INSERT_ACCESS_TOKEN, [
    token.id,
    token.applicationId,
    token.teamId,
    token.userId,
    token.codeHash,
    token.scopes,
    token.accessHash,
    token.accessValidSeconds,
    token.refreshHash,
    token.refreshValidDays,
    token.grantedScopes,
  ]);
  return row?.expiresAt ?? null;
}

export interface RefreshableToken {
  readonly teamId: number;
  readonly userId: string;
  readonly codeHash: Buffer;
  /** All that was granted. */
  readonly scopes: readonly Scope[];
}

const FIND_REFRESHABLE = statement(
  "find_refreshable",
  `select team_id as "teamId", user_id as "userId", code_hash as "codeHash",
          coalesce(granted_scopes, scopes) as scopes
     from oauth_tokens
    where refresh_hash = $1 and application_id = $2 and user_id is not null and code_hash is not null`,
);

/** Finds by a refresh token of this application, even if it is used; tokens of other applications are not found. */
export async function findRefreshable(
  sql: Sql,
  applicationId: string,
  refreshHash: Buffer,
): Promise<RefreshableToken | null> {
  const [row] = await sql.rows<RefreshableToken>(FIND_REFRESHABLE, [refreshHash, applicationId]);
  return row ?? null;
}

const USE_REFRESH_TOKEN = statement(
  "use_refresh_token",
  `update oauth_tokens set refreshed_at = now()
    where refresh_hash = $1 and refreshed_at is null and revoked_at is null and refresh_expires_at > now()
   returning id`,
);

/** Marks the refresh token as used. Of two concurrent attempts, the second waits for the first and finds it used. */
export async function useRefreshToken(sql: Sql, refreshHash: Buffer): Promise<boolean> {
  const rows = await sql.rows(USE_REFRESH_TOKEN, [refreshHash]);
  return rows.length === 1;
}

const WAS_REFRESHED = statement(
  "was_refreshed",
  "select 1 from oauth_tokens where refresh_hash = $1 and refreshed_at is not null",
);

export async function wasRefreshed(sql: Sql, refreshHash: Buffer): Promise<boolean> {
  const rows = await sql.rows(WAS_REFRESHED, [refreshHash]);
  return rows.length === 1;
}

const LOCK_AUTHORIZATION = statement(
  "lock_authorization",
  "select 1 from oauth_tokens where code_hash = $1 order by id for update",
);

const END_AUTHORIZATION = statement(
  "end_authorization",
  `update oauth_tokens set revoked_at = now()
    where code_hash = $1 and revoked_at is null returning revoked_at as "revokedAt"`,
);

/**
 * Must run in a transaction. Locks in id order, like every statement that locks several rows, to avoid deadlocks. Null
 * if all of them had ended before.
 */
export async function endAuthorization(sql: Sql, codeHash: Buffer): Promise<Date | null> {
  await sql.rows(LOCK_AUTHORIZATION, [codeHash]);
  const [row] = await sql.rows<{ revokedAt: Date }>(END_AUTHORIZATION, [codeHash]);
  return row?.revokedAt ?? null;
}

const REVOKE_ACCESS_TOKEN = statement(
  "revoke_access_token",
  "update oauth_tokens set revoked_at = now() where id = $1 and revoked_at is null returning id",
);

/** For a token of an application acting for its own team. False if it had ended before. */
export async function revokeAccessToken(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql.rows(REVOKE_ACCESS_TOKEN, [id]);
  return rows.length > 0;
}

export interface IssuedToken {
  readonly id: string;
  readonly teamId: number;
  readonly codeHash: Buffer | null;
}

const FIND_ISSUED_TOKEN = statement(
  "find_issued_token",
  `select id, team_id as "teamId", code_hash as "codeHash" from oauth_tokens
    where (access_hash = $2 or refresh_hash = $2) and application_id = $1`,
);

/** A token of this application by the hash of either of its secrets. */
export async function findIssuedToken(
  sql: Sql,
  applicationId: string,
  hash: Buffer,
): Promise<IssuedToken | null> {
  const [row] = await sql.rows<IssuedToken>(FIND_ISSUED_TOKEN, [applicationId, hash]);
  return row ?? null;
}

const REVOKE_TOKENS_OF_MEMBER = statement(
  "revoke_tokens_of_member",
  `with gone as (delete from oauth_codes where team_id = $1 and user_id = $2)
   update oauth_tokens set revoked_at = now()
    where id in (select id from oauth_tokens
                  where team_id = $1 and user_id = $2 and revoked_at is null order by id for update)`,
);

/**
 * Revokes what a person granted to applications in a team. Must run after the membership was removed, in the same
 * transaction: from then on no token is issued.
 */
export async function revokeTokensOfMember(sql: Sql, teamId: number, userId: string): Promise<void> {
  await sql.rows(REVOKE_TOKENS_OF_MEMBER, [teamId, userId]);
}

export interface LiveAccess {
  readonly applicationId: string;
  readonly applicationName: string;
  readonly teamId: number;
  readonly teamPublicId: string;
  readonly userId: string | null;
  /** The person's role in the team now; null for an application on its own. */
  readonly role: Role | null;
  readonly scopes: readonly Scope[];
  readonly plan: Plan;
  readonly customPerMinute: number | null;
  readonly ownLimits: OwnLimits | null;
}

const FIND_ACCESS = statement(
  "find_access",
  `select k.application_id as "applicationId", a.name as "applicationName", k.team_id as "teamId",
          t.public_id as "teamPublicId", k.user_id as "userId", m.role, k.scopes, t.plan, t.requests_per_minute as "customPerMinute",
          t.limits as "ownLimits"
     from oauth_tokens k
     join oauth_applications a on a.id = k.application_id
     join teams t on t.id = k.team_id
     left join team_members m on m.team_id = k.team_id and m.user_id = k.user_id
    where k.access_hash = $1 and k.revoked_at is null and k.access_expires_at > now()
      and (k.user_id is null or m.user_id is not null)`,
  { prepared: true },
);

/** An access token is valid while it is neither expired nor revoked and its person is a member of its team. */
export async function findLiveAccess(sql: Sql, accessHash: Buffer): Promise<LiveAccess | null> {
  const [row] = await sql.rows<LiveAccess>(FIND_ACCESS, [accessHash]);
  return row ?? null;
}
