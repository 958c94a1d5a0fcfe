import type { Scope } from "../../domain/identity/scope.ts";
import { type Sql, statement } from "../sql.ts";

/** A consent until the application exchanges it for tokens. */
export interface StoredCode {
  readonly teamId: number;
  readonly userId: string;
  readonly scopes: readonly Scope[];
  readonly redirectUri: string;
  readonly codeChallenge: string;
}

export interface NewCode extends StoredCode {
  readonly hash: Buffer;
  /** The public id of the authorization. */
  readonly authorizationId: string;
  readonly applicationId: string;
  readonly validSeconds: number;
}

const INSERT_CODE = statement(
  "insert_code",
  `insert into oauth_codes
     (hash, consent_id, application_id, team_id, user_id, scopes, redirect_uri, code_challenge, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, now() + make_interval(secs => $9))`,
);

export async function insertCode(sql: Sql, code: NewCode): Promise<void> {
  await sql.rows(INSERT_CODE, [
    code.hash,
    code.authorizationId,
    code.applicationId,
    code.teamId,
    code.userId,
    code.scopes,
    code.redirectUri,
    code.codeChallenge,
    code.validSeconds,
  ]);
}

const FIND_CODE = statement(
  "find_code",
  `select team_id as "teamId", user_id as "userId", scopes, redirect_uri as "redirectUri",
          code_challenge as "codeChallenge"
     from oauth_codes where hash = $1 and application_id = $2`,
);

/** A code of this application, even if it is used or expired; codes of other applications are not found. */
export async function findCode(sql: Sql, applicationId: string, hash: Buffer): Promise<StoredCode | null> {
  const [row] = await sql.rows<StoredCode>(FIND_CODE, [hash, applicationId]);
  return row ?? null;
}

const USE_CODE = statement(
  "use_code",
  `update oauth_codes set used_at = now()
    where hash = $1 and used_at is null and expires_at > now() returning 1 as used`,
);

/** Marks the code as used. Of two concurrent attempts, the second waits for the first and finds it used. */
export async function useCode(sql: Sql, hash: Buffer): Promise<boolean> {
  const rows = await sql.rows(USE_CODE, [hash]);
  return rows.length === 1;
}

const NOTE_REPLAY = statement(
  "note_replay",
  `update oauth_codes set replayed_at = coalesce(replayed_at, now())
    where hash = $1 and used_at is not null returning 1 as noted`,
);

/** Records that a used code was presented again, which invalidates its tokens. False if it was never used. */
export async function noteReplay(sql: Sql, hash: Buffer): Promise<boolean> {
  const rows = await sql.rows(NOTE_REPLAY, [hash]);
  return rows.length === 1;
}
