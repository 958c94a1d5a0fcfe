// What descends from one consent is a family: the tokens of one code, and of every refresh after it. It ends as a
// whole. The danger: a refresh under way stores a token that whoever ends the family at the same moment does not see
// yet. So ending locks every token of the family first, which waits for the refresh (it holds the token it replaces),
// and only then, in a second statement, looks which there are.
import type { Plan } from "../../domain/identity/plan.ts";
import type { Role } from "../../domain/identity/role.ts";
import { isScope, type Scope } from "../../domain/identity/scope.ts";
import { prepare, type Sql } from "../sql.ts";

export interface NewToken {
  readonly id: string;
  readonly applicationId: string;
  readonly teamId: number;
  /** Null for an application that acts for its own team. */
  readonly userId: string | null;
  readonly codeHash: Buffer | null;
  readonly scopes: readonly Scope[];
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
export async function insertToken(sql: Sql, token: NewToken): Promise<Date | null> {
  const [row] = await sql.rows<{ expiresAt: Date }>(
    `insert into oauth_tokens
       (id, application_id, team_id, user_id, code_hash, scopes, access_hash, access_expires_at,
        refresh_hash, refresh_expires_at, consent_id, consented_at)
     select $1, $2, $3, $4, $5, $6, $7, date_trunc('second', now()) + make_interval(secs => $8),
            $9::bytea, case when $9::bytea is not null then now() + make_interval(days => $10) end, consent.id, consent.at
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
    ],
  );
  return row?.expiresAt ?? null;
}

export interface RefreshableToken {
  readonly teamId: number;
  readonly userId: string;
  readonly codeHash: Buffer;
  readonly scopes: readonly Scope[];
}

interface RefreshableRow {
  team_id: number;
  user_id: string;
  code_hash: Buffer;
  scopes: string[];
}

/** By a refresh token of this application, also one that is used up; that of another it does not find. */
export async function findRefreshable(
  sql: Sql,
  applicationId: string,
  refreshHash: Buffer,
): Promise<RefreshableToken | null> {
  const rows = await sql.rows<RefreshableRow>(
    `select team_id, user_id, code_hash, scopes from oauth_tokens
      where refresh_hash = $1 and application_id = $2 and user_id is not null and code_hash is not null`,
    [refreshHash, applicationId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { team_id: teamId, user_id: userId, code_hash: codeHash, scopes } = row;
  return { teamId, userId, codeHash, scopes: scopes.filter(isScope) };
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
 * Run it in a transaction. In the order of their ids, as everywhere that takes several: nobody waits in a circle. Null
 * if all of them had ended before.
 */
export async function revokeFamily(sql: Sql, codeHash: Buffer): Promise<Date | null> {
  await sql.rows("select 1 from oauth_tokens where code_hash = $1 order by id for update", [codeHash]);
  const rows = await sql.rows<{ revoked_at: Date }>(
    "update oauth_tokens set revoked_at = now() where code_hash = $1 and revoked_at is null returning revoked_at",
    [codeHash],
  );
  return rows[0]?.revoked_at ?? null;
}

/** For a token that has no family. False if it had ended before. */
export async function revokeToken(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql.rows(
    "update oauth_tokens set revoked_at = now() where id = $1 and revoked_at is null returning id",
    [id],
  );
  return rows.length > 0;
}

/** A token of this application by the hash of either of its secrets. */
export async function findToken(
  sql: Sql,
  applicationId: string,
  hash: Buffer,
): Promise<{ readonly id: string; readonly teamId: number; readonly codeHash: Buffer | null } | null> {
  const rows = await sql.rows<{ id: string; team_id: number; code_hash: Buffer | null }>(
    `select id, team_id, code_hash from oauth_tokens
      where (access_hash = $2 or refresh_hash = $2) and application_id = $1`,
    [applicationId, hash],
  );
  const [row] = rows;
  return row === undefined ? null : { id: row.id, teamId: row.team_id, codeHash: row.code_hash };
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
  readonly userId: string | null;
  /** The person's role in the team now; null for an application on its own. */
  readonly role: Role | null;
  readonly scopes: readonly Scope[];
  readonly plan: Plan;
  readonly customPerMinute: number | null;
}

interface AccessRow {
  application_id: string;
  name: string;
  team_id: number;
  user_id: string | null;
  role: Role | null;
  scopes: string[];
  plan: Plan;
  requests_per_minute: number | null;
}

const FIND_ACCESS = prepare(
  "find_access",
  `select k.application_id, a.name, k.team_id, k.user_id, m.role, k.scopes, t.plan, t.requests_per_minute
     from oauth_tokens k
     join oauth_applications a on a.id = k.application_id
     join teams t on t.id = k.team_id
     left join team_members m on m.team_id = k.team_id and m.user_id = k.user_id
    where k.access_hash = $1 and k.revoked_at is null and k.access_expires_at > now()
      and (k.user_id is null or m.user_id is not null)`,
);

/** An access token counts while it has not expired or been revoked, and its person is still a member of its team. */
export async function findLiveAccess(sql: Sql, accessHash: Buffer): Promise<LiveAccess | null> {
  const [row] = await sql.rows<AccessRow>(FIND_ACCESS, [accessHash]);
  if (row === undefined) return null;
  return {
    applicationId: row.application_id,
    applicationName: row.name,
    teamId: row.team_id,
    userId: row.user_id,
    role: row.role,
    scopes: row.scopes.filter(isScope),
    plan: row.plan,
    customPerMinute: row.requests_per_minute,
  };
}
