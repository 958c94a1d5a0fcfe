import type { PageRequest } from "../../domain/page.ts";
import type { Reach } from "../../domain/reach.ts";
import type { RevokedToken, VaultToken } from "../../domain/vault-token.ts";
import { type Sql, statement } from "../sql.ts";

export interface NewVaultToken extends Omit<VaultToken, "createdAt" | "lastUsedAt"> {
  readonly keyId: string;
  readonly sealed: Buffer;
}

const COLUMNS = `id, name, allowed_hosts as "allowedHosts", created_at as "createdAt", last_used_at as "lastUsedAt"`;

/** Whether a reach is the sandbox: its tokens are separate from the team's live ones. */
function isSandbox({ environment }: Reach): boolean {
  return environment === "test";
}

const INSERT_VAULT_TOKEN = statement(
  "insert_vault_token",
  `insert into vault_tokens (team_id, id, name, allowed_hosts, key_id, sealed, sandbox)
   values ($1, $2, $3, $4, $5, $6, $7)
   returning ${COLUMNS}`,
);

/** Ids are as stored, here and below. */
export async function insertVaultToken(sql: Sql, reach: Reach, token: NewVaultToken): Promise<VaultToken> {
  const [row] = await sql.rows<VaultToken>(INSERT_VAULT_TOKEN, [
    reach.teamId,
    token.id,
    token.name,
    token.allowedHosts,
    token.keyId,
    token.sealed,
    isSandbox(reach),
  ]);
  if (row === undefined) throw new TypeError("An insert without conflict clause returned nothing");
  return row;
}

const LIST_VAULT_TOKENS = statement(
  "list_vault_tokens",
  `select ${COLUMNS} from vault_tokens
    where team_id = $1 and sandbox = $4 and revoked_at is null
      and ($2::uuid is null
           or (created_at, id) < (select c.created_at, c.id from vault_tokens c where c.team_id = $1 and c.id = $2))
    order by created_at desc, id desc limit $3`,
);

/** Active tokens, newest first. */
export async function listVaultTokens(
  sql: Sql,
  reach: Reach,
  { limit, cursor }: PageRequest,
): Promise<VaultToken[]> {
  return sql.rows<VaultToken>(LIST_VAULT_TOKENS, [reach.teamId, cursor, limit, isSandbox(reach)]);
}

const FIND_VAULT_TOKEN = statement(
  "find_vault_token",
  `select ${COLUMNS} from vault_tokens where team_id = $1 and id = $2 and sandbox = $3 and revoked_at is null`,
);

/** Null if there is no active token with this id. */
export async function findVaultToken(sql: Sql, reach: Reach, id: string): Promise<VaultToken | null> {
  const [row] = await sql.rows<VaultToken>(FIND_VAULT_TOKEN, [reach.teamId, id, isSandbox(reach)]);
  return row ?? null;
}

const REVOKE_VAULT_TOKEN = statement(
  "revoke_vault_token",
  `update vault_tokens set revoked_at = now(), sealed = null
    where team_id = $1 and id = $2 and sandbox = $3 and revoked_at is null
   returning id, name, revoked_at as "revokedAt"`,
);

/** Erases the value in the same statement. Null if there is no active token with this id. */
export async function revokeVaultToken(sql: Sql, reach: Reach, id: string): Promise<RevokedToken | null> {
  const [row] = await sql.rows<RevokedToken>(REVOKE_VAULT_TOKEN, [reach.teamId, id, isSandbox(reach)]);
  return row ?? null;
}

type TokenHosts = Pick<VaultToken, "id" | "allowedHosts">;

export interface SealedToken extends TokenHosts {
  /** Null if revoked. */
  readonly sealed: Buffer | null;
}

const FIND_SEALED = statement(
  "find_sealed_tokens",
  `select id, allowed_hosts as "allowedHosts", sealed from vault_tokens
    where team_id = $1 and id = any($2::uuid[]) and not sandbox`,
  { prepared: true },
);

/** Only live tokens: no sandbox task makes a call. Never cached: no node may send a token after it was revoked. */
export async function findSealedTokens(
  sql: Sql,
  teamId: number,
  ids: readonly string[],
): Promise<SealedToken[]> {
  return sql.rows<SealedToken>(FIND_SEALED, [teamId, ids]);
}

const FIND_ACTIVE = statement(
  "find_active_tokens",
  `select id, allowed_hosts as "allowedHosts" from vault_tokens
    where team_id = $1 and id = any($2::uuid[]) and ($3 or not sandbox) and revoked_at is null`,
  { prepared: true },
);

/** The tokens that a task may name: in the sandbox every token of the team, otherwise live ones. */
export async function findActiveTokens(
  sql: Sql,
  reach: Reach,
  ids: readonly string[],
): Promise<TokenHosts[]> {
  return sql.rows<TokenHosts>(FIND_ACTIVE, [reach.teamId, ids, isSandbox(reach)]);
}

const FIND_TOKEN_IDS = statement(
  "find_token_ids",
  "select id from vault_tokens where team_id = $1 and id = any($2::uuid[]) and ($3 or not sandbox)",
);

/** Which of these are tokens that a task may name, or might before they were revoked. */
export async function findTokenIds(sql: Sql, reach: Reach, ids: readonly string[]): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>(FIND_TOKEN_IDS, [reach.teamId, ids, isSandbox(reach)]);
  return rows.map(({ id }) => id);
}

/** The position in a scan of all teams' tokens. */
export interface TokenPlace {
  readonly teamId: number;
  readonly id: string;
}

export interface TokenToReseal extends TokenPlace {
  readonly keyId: string;
  readonly sealed: Buffer;
}

const FIND_TOKENS_SEALED_BY = statement(
  "find_tokens_sealed_by",
  `select team_id as "teamId", id, key_id as "keyId", sealed from vault_tokens
    where key_id = any($1) and revoked_at is null
      and ($2::integer is null or (team_id, id) > ($2::integer, $3::uuid))
    order by team_id, id limit $4`,
);

/** The next active tokens after a position that were encrypted with one of these keys. */
export async function findTokensSealedBy(
  sql: Sql,
  keyIds: readonly string[],
  after: TokenPlace | null,
  limit: number,
): Promise<TokenToReseal[]> {
  return sql.rows<TokenToReseal>(FIND_TOKENS_SEALED_BY, [
    keyIds,
    after?.teamId ?? null,
    after?.id ?? null,
    limit,
  ]);
}

const RESEAL_TOKEN = statement(
  "reseal_token",
  `update vault_tokens set key_id = $4, sealed = $5
    where team_id = $1 and id = $2 and key_id = $3 and revoked_at is null
   returning id`,
);

/**
 * Re-encrypts a token, unless it was revoked or re-encrypted meanwhile: an erased value must not come back. Returns
 * whether it changed.
 */
export async function resealToken(
  sql: Sql,
  from: TokenToReseal,
  to: { readonly keyId: string; readonly sealed: Buffer },
): Promise<boolean> {
  const rows = await sql.rows(RESEAL_TOKEN, [from.teamId, from.id, from.keyId, to.keyId, to.sealed]);
  return rows.length === 1;
}

const TOKEN_KEYS_IN_USE = statement(
  "token_keys_in_use",
  'select distinct key_id as "keyId" from vault_tokens where revoked_at is null order by key_id',
);

/** The vault keys that active tokens need. */
export async function tokenKeysInUse(sql: Sql): Promise<string[]> {
  const rows = await sql.rows<{ keyId: string }>(TOKEN_KEYS_IN_USE);
  return rows.map(({ keyId }) => keyId);
}
