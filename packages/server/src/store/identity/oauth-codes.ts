import { isScope, type Scope } from "../../domain/identity/scope.ts";
import type { Sql } from "../sql.ts";

export interface NewCode {
  readonly hash: Buffer;
  readonly consentId: string;
  readonly applicationId: string;
  readonly teamId: number;
  readonly userId: string;
  readonly scopes: readonly Scope[];
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly validSeconds: number;
}

export async function insertCode(sql: Sql, code: NewCode): Promise<void> {
  await sql.rows(
    `insert into oauth_codes
       (hash, consent_id, application_id, team_id, user_id, scopes, redirect_uri, code_challenge, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, now() + make_interval(secs => $9))`,
    [
      code.hash,
      code.consentId,
      code.applicationId,
      code.teamId,
      code.userId,
      code.scopes,
      code.redirectUri,
      code.codeChallenge,
      code.validSeconds,
    ],
  );
}

export interface StoredCode {
  readonly teamId: number;
  readonly userId: string;
  readonly scopes: readonly Scope[];
  readonly redirectUri: string;
  readonly codeChallenge: string;
}

interface CodeRow {
  team_id: number;
  user_id: string;
  scopes: string[];
  redirect_uri: string;
  code_challenge: string;
}

/** A code of this application, also one that is used up or has expired; that of another it does not find. */
export async function findCode(sql: Sql, applicationId: string, hash: Buffer): Promise<StoredCode | null> {
  const rows = await sql.rows<CodeRow>(
    `select team_id, user_id, scopes, redirect_uri, code_challenge
       from oauth_codes where hash = $1 and application_id = $2`,
    [hash, applicationId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  return {
    teamId: row.team_id,
    userId: row.user_id,
    scopes: row.scopes.filter(isScope),
    redirectUri: row.redirect_uri,
    codeChallenge: row.code_challenge,
  };
}

/** Uses the code up. Of two that try at once the second waits for the first, and finds it used. */
export async function useCode(sql: Sql, hash: Buffer): Promise<boolean> {
  const rows = await sql.rows(
    `update oauth_codes set used_at = now()
      where hash = $1 and used_at is null and expires_at > now() returning 1 as used`,
    [hash],
  );
  return rows.length === 1;
}

/** Notes that a used code was presented again: no token of it counts any more. False if it was never used. */
export async function noteReplay(sql: Sql, hash: Buffer): Promise<boolean> {
  const rows = await sql.rows(
    `update oauth_codes set replayed_at = coalesce(replayed_at, now())
      where hash = $1 and used_at is not null returning 1 as noted`,
    [hash],
  );
  return rows.length === 1;
}
