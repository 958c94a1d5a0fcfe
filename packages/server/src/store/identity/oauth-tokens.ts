// All tokens of one authorization descend from one code: those it was exchanged for, and those of every refresh since. They
// end as a whole. The danger: a refresh under way stores a token that a request which ends the authorization at the same
// moment does not see yet. So ending locks every token there is first, which waits for the refresh (it holds the token
// that it replaces), and only then, in a second statement, looks which there are.
import type { Plan } from "../../domain/identity/plan.ts";
import type { Role } from "../../domain/identity/role.ts";
import type { Scope } from "../../domain/identity/scope.ts";
import type { OwnLimits } from "../../domain/limits.ts";
import { prepare, type Sql } from "../sql.ts";

export interface NewAccessToken {
  readonly id: string;
  readonly applicationId: string;
  readonly teamId: number;
  /** Null for an application that acts for its own team. */
  readonly userId: string | null;
  readonly codeHash: Buffer | null;
  readonly scopes: readonly Scope[];
  /** What a later refresh may ask for; null: `scopes`. */
  readonly grantedScopes: readonly Scope[] | null;
  readonly accessHash: Buffer;
  readonly accessValidSeconds: number;
  /** Null for an access token without one beside it. */
  readonly refreshHash: Buffer | null;
  readonly refreshValidDays: number;
}

/**
 * When the access token expires: to the second, like the time inside it. Null for a token of a code that was presented
 * twice: it does not come to life any more. What is known of the consent comes from the code or, once that is gone, from
 * the token that is being refreshed.
 */
export async function insertAccessToken(sql: Sql, token: NewAccessToken): Promise<Date | null> {
  const [row] = await sql.rows<{ expiresAt: Date }>(
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
    [
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
    ],
  );
  return row?.expiresAt ?? null;
}

export interface RefreshableToken {
  readonly teamId: number;
  readonly userId: string;
  readonly codeHash: Buffer;
  /** All that was granted. */
  readonly scopes: readonly Scope[];
}

/** By a refresh token of this application, also one that is used up; that of another it does not find. */
export async function findRefreshable(
  sql: Sql,
  applicationId: string,
  refreshHash: Buffer,
): Promise<RefreshableToken | null> {
  const [row] = await sql.rows<RefreshableToken>(
    `select team_id as "teamId", user_id as "userId", code_hash as "codeHash",
            coalesce(granted_scopes, scopes) as scopes
       from oauth_tokens
      where refresh_hash = $1 and application_id = $2 and user_id is not null and code_hash is not null`,
    [refreshHash, applicationId],
  );
  return row ?? null;
}

/** Uses the refresh token up. Of two that try at once the second waits for the first, and finds it used. */
export async function useRefreshToken(sql: Sql, refreshHash: Buffer): Promise<boolean> {
  const rows = await sql.rows(
    `update oauth_tokens set refreshed_at = now()
      where refresh_hash = $1 and refreshed_at is null and revoked_at is null and refresh_expires_at > now()
     returning id`,
    [refreshHash],
  );
  return rows.length === 1;
}

export async function wasRefreshed(sql: Sql, refreshHash: Buffer): Promise<boolean> {
  const rows = await sql.rows(
    "select 1 from oauth_tokens where refresh_hash = $1 and refreshed_at is not null",
    [refreshHash],
  );
  return rows.length === 1;
}

/**
 * Run it in a transaction. In the order of their ids, as everywhere that takes several: no two transactions wait in a circle. Null
 * if all of them had ended before.
 */
export async function endAuthorization(sql: Sql, codeHash: Buffer): Promise<Date | null> {
  await sql.rows("select 1 from oauth_tokens where code_hash = $1 order by id for update", [codeHash]);
  const [row] = await sql.rows<{ revokedAt: Date }>(
    `update oauth_tokens set revoked_at = now()
      where code_hash = $1 and revoked_at is null returning revoked_at as "revokedAt"`,
    [codeHash],
  );
  return row?.revokedAt ?? null;
}

/** For a token of an application on its own. False if it had ended before. */
export async function revokeAccessToken(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql.rows(
    "update oauth_tokens set revoked_at = now() where id = $1 and revoked_at is null returning id",
    [id],
  );
  return rows.length > 0;
}

export interface IssuedToken {
  readonly id: string;
  readonly teamId: number;
  readonly codeHash: Buffer | null;
}

/** A token of this application by the hash of either of its secrets. */
export async function findIssuedToken(
  sql: Sql,
  applicationId: string,
  hash: Buffer,
): Promise<IssuedToken | null> {
  const [row] = await sql.rows<IssuedToken>(
    `select id, team_id as "teamId", code_hash as "codeHash" from oauth_tokens
      where (access_hash = $2 or refresh_hash = $2) and application_id = $1`,
    [applicationId, hash],
  );
  return row ?? null;
}

/**
 * Ends what a person let applications do in a team. Run it after the membership was removed, in the same transaction:
 * from then on nothing new is issued.
 */
export async function revokeTokensOfMember(sql: Sql, teamId: number, userId: string): Promise<void> {
  await sql.rows(
    `with gone as (delete from oauth_codes where team_id = $1 and user_id = $2)
     update oauth_tokens set revoked_at = now()
      where id in (select id from oauth_tokens
                    where team_id = $1 and user_id = $2 and revoked_at is null order by id for update)`,
    [teamId, userId],
  );
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

const FIND_ACCESS = prepare(
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
);

/** An access token counts while it has not expired or been revoked, and its person is still a member of its team. */
export async function findLiveAccess(sql: Sql, accessHash: Buffer): Promise<LiveAccess | null> {
  const [row] = await sql.rows<LiveAccess>(FIND_ACCESS, [accessHash]);
  return row ?? null;
}
