import type { Principal, Requester } from "../../domain/identity/principal.ts";
import { requireRoom } from "../../domain/limits.ts";
import { cutPage, type Page, type PageRequest, WHOLE_LIST } from "../../domain/page.ts";
import { Problem } from "../../domain/problem.ts";
import { readCursor } from "../../domain/public-id.ts";
import type { Secret } from "../../domain/secret.ts";
import type { RevokedToken, TokenTasks, VaultToken } from "../../domain/vault-token.ts";
import type { Database } from "../../store/sql.ts";
import { holdTeamUsage } from "../../store/team-usage.ts";
import { countTokenTasks } from "../../store/vault/token-uses.ts";
import type { Vault } from "../../vault/vault.ts";
import { recordChange } from "../audit/audit.ts";

/** The maximum number of open tasks scanned for a token. */
const MOST_LOOKED_AT = 10_000;

/** A credential to store, as sent by a caller. */
export interface VaultTokenRequest {
  readonly name: string;
  readonly value: Secret;
  readonly allowedHosts: readonly string[] | null;
}

export interface VaultTokenDetail extends VaultToken {
  /** Sandbox tasks for a test key, live tasks otherwise. */
  readonly openTasks: TokenTasks;
}

/** A test key stores, sees and revokes sandbox tokens; other credentials the live ones. */
export interface VaultService {
  /** False without a key: everything is refused. */
  readonly isOpen: boolean;
  create(requester: Requester, request: VaultTokenRequest): Promise<VaultToken>;
  /** Newest first; the cursor is the id of a token. */
  list(principal: Principal, page?: PageRequest): Promise<Page<VaultToken>>;
  get(principal: Principal, tokenId: string): Promise<VaultTokenDetail>;
  revoke(requester: Requester, tokenId: string): Promise<RevokedToken>;
}

export function createVaultService(deps: {
  readonly vault: Vault;
  readonly database: Database;
}): VaultService {
  const { vault, database } = deps;
  return {
    isOpen: vault.isOpen,
    create: (requester, { name, value, allowedHosts }) =>
      database.transaction(async (sql) => {
        if (requester.limits.vaultTokens !== null)
          requireRoom(requester, "vaultTokens", (await holdTeamUsage(sql, requester)).vaultTokens);
        const token = await vault.put(requester, name, value, allowedHosts, sql);
        const detail = { name, ...(allowedHosts !== null && { allowedHosts }), ...sandboxNote(requester) };
        await recordChange(sql, requester, { action: "vault_token.created", target: token.id, detail });
        return token;
      }),
    async list(principal, { limit, cursor } = WHOLE_LIST) {
      const found = await vault.list(principal, { limit: limit + 1, cursor: readCursor("tok", cursor) });
      return cutPage(found, limit, ({ id }) => id);
    },
    async get(principal, tokenId) {
      const token = await vault.find(principal, tokenId);
      if (token === null) throw new Problem("vault_token_not_found");
      return { ...token, openTasks: await countTokenTasks(database, principal, token.id, MOST_LOOKED_AT) };
    },
    revoke: (requester, tokenId) =>
      database.transaction(async (sql) => {
        const revoked = await vault.revoke(requester, tokenId, sql);
        if (revoked === null) throw new Problem("vault_token_not_found");
        const detail = { name: revoked.name, ...sandboxNote(requester) };
        await recordChange(sql, requester, { action: "vault_token.revoked", target: revoked.id, detail });
        return revoked;
      }),
  };
}

/** For the audit log, which holds both environments. */
function sandboxNote({ environment }: Principal): { readonly sandbox?: true } {
  return environment === "test" ? { sandbox: true } : {};
}
