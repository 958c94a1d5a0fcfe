import { randomFillSync } from "node:crypto";
import { type PageRequest, WHOLE_LIST } from "../domain/page.ts";
import { Problem } from "../domain/problem.ts";
import { createUuidSource, formatId, parseId } from "../domain/public-id.ts";
import type { Reach } from "../domain/reach.ts";
import { Secret } from "../domain/secret.ts";
import {
  mayBeSentTo,
  type RevokedToken,
  type VaultReference,
  type VaultToken,
} from "../domain/vault-token.ts";
import type { Sql } from "../store/sql.ts";
import {
  findActiveTokens,
  findSealedTokens,
  findTokenIds,
  findVaultToken,
  insertVaultToken,
  listVaultTokens,
  revokeVaultToken,
} from "../store/vault/vault-tokens.ts";
import { type SealContext, SealError, seal, unseal } from "./cipher.ts";
import type { KeyRing } from "./key-ring.ts";
import { isSealed, openSecret, sealSecret } from "./signing-seal.ts";

/**
 * What a reference stands for at the moment of a call. `unreadable`: the token is there, but the key that sealed it is
 * not on this node's ring, or its row was tampered with; the operator can mend that, the caller cannot.
 */
export type Resolved =
  | { readonly value: Secret; readonly allowedHosts: readonly string[] | null }
  | "revoked"
  | "unknown"
  | "unreadable";

/**
 * Third-party credentials, readable only with a key that is not in the database. The sandbox of a team has its own: by its
 * reach a caller stores, sees and revokes those of one environment.
 */
export interface Vault {
  /** False: there is no key, and everything that needs one is refused. */
  readonly isOpen: boolean;
  put(
    reach: Reach,
    name: string,
    value: Secret,
    allowedHosts: readonly string[] | null,
    /** The transaction that the token is stored in, if in one. */
    within?: Sql,
  ): Promise<VaultToken>;
  /** The active ones, newest first. */
  list(reach: Reach, page?: PageRequest): Promise<VaultToken[]>;
  /** Null when there is no active token of this id. */
  find(reach: Reach, tokenId: string): Promise<VaultToken | null>;
  /** Null when there is no active token of this id. The stored value is wiped. */
  revoke(reach: Reach, tokenId: string, within?: Sql): Promise<RevokedToken | null>;
  /**
   * Refuses references that no call to this URL could be made with. What happens later is for `resolve` to find. A task of
   * the sandbox, which makes none, may name live tokens too.
   */
  check(reach: Reach, references: readonly VaultReference[], targetUrl: string): Promise<void>;
  /** Refuses text that has the id of a token in it which could be named instead, active or revoked. Needs no key. */
  refuseMentions(reach: Reach, mentions: readonly VaultReference[]): Promise<void>;
  /** The only way to a value, of a live token. Ask right before the call, and check `allowedHosts` against where it goes. */
  resolve(teamId: number, tokenIds: readonly string[]): Promise<Map<string, Resolved>>;
  sealText(purpose: "callback", teamId: number, id: string, text: string): Buffer;
  /** Throws a SealError for what was not sealed for exactly this. */
  openText(purpose: "callback", teamId: number, id: string, sealed: Buffer): string;
  /** As a signing secret is stored: sealed where there is a key. */
  sealSigningSecret(teamId: number, id: string, secret: string): string;
  /** Throws a SealError, or the problem that there is no vault. What was never sealed needs none. */
  openSigningSecret(teamId: number, id: string, stored: string): string;
}

const newUuid = createUuidSource({ nowMs: Date.now, fillRandom: randomFillSync });

/** What a caller sent is repeated only up to this length; an id is shorter. */
const LONGEST_ECHO = 128;

export function createVault(deps: { readonly sql: Sql; readonly keyRing: KeyRing | null }): Vault {
  const { sql, keyRing } = deps;

  function ring(): KeyRing {
    if (keyRing === null) throw new Problem("vault_off");
    return keyRing;
  }

  return {
    isOpen: keyRing !== null,
    async put(reach, name, value, allowedHosts, within = sql) {
      const { sealing } = ring();
      const id = newUuid();
      const sealed = seal(sealing, tokenContext(reach.teamId, id), value.reveal());
      const row = { id, name, allowedHosts, keyId: sealing.id, sealed };
      return withPublicId(await insertVaultToken(within, reach, row));
    },
    async list(reach, page = WHOLE_LIST) {
      ring();
      return (await listVaultTokens(sql, reach, page)).map(withPublicId);
    },
    async find(reach, tokenId) {
      ring();
      const id = parseId("tok", tokenId);
      const found = id === null ? null : await findVaultToken(sql, reach, id);
      return found === null ? null : withPublicId(found);
    },
    async revoke(reach, tokenId, within = sql) {
      ring();
      const id = parseId("tok", tokenId);
      const revoked = id === null ? null : await revokeVaultToken(within, reach, id);
      return revoked === null ? null : { ...revoked, id: tokenId };
    },
    async check(reach, references, targetUrl) {
      if (references.length === 0) return;
      ring();
      const uuids = uuidsOf(references.map(({ tokenId }) => tokenId));
      const rows = uuids.length === 0 ? [] : await findActiveTokens(sql, reach, uuids);
      const active = new Map(rows.map((row) => [formatId("tok", row.id), row]));
      for (const { header, tokenId } of references) {
        const token = active.get(tokenId);
        const named = { header, token: echo(tokenId) };
        if (token === undefined) throw new Problem("vault_token_unknown", named);
        if (!mayBeSentTo(token.allowedHosts, targetUrl)) {
          throw new Problem("vault_token_host", { ...named, host: echo(hostOf(targetUrl)) });
        }
      }
    },
    async refuseMentions(reach, mentions) {
      const uuids = uuidsOf(mentions.map(({ tokenId }) => tokenId));
      if (uuids.length === 0) return;
      const own = new Set((await findTokenIds(sql, reach, uuids)).map((id) => formatId("tok", id)));
      const found = mentions.find(({ tokenId }) => own.has(tokenId));
      if (found !== undefined)
        throw new Problem("vault_token_inside", { header: echo(found.header), token: found.tokenId });
    },
    async resolve(teamId, tokenIds) {
      const keys = ring();
      const uuids = uuidsOf(tokenIds);
      const rows = uuids.length === 0 ? [] : await findSealedTokens(sql, teamId, uuids);
      const resolved = new Map<string, Resolved>(tokenIds.map((tokenId) => [tokenId, "unknown"]));
      for (const { id, sealed, allowedHosts } of rows) {
        const value = sealed === null ? "revoked" : readValue(keys, tokenContext(teamId, id), sealed);
        resolved.set(formatId("tok", id), typeof value === "string" ? value : { value, allowedHosts });
      }
      return resolved;
    },
    sealText: (purpose, teamId, id, text) => seal(ring().sealing, { purpose, teamId, id }, text),
    openText: (purpose, teamId, id, sealed) => unseal(ring(), { purpose, teamId, id }, sealed),
    sealSigningSecret: (teamId, id, secret) =>
      keyRing === null ? secret : sealSecret(keyRing, teamId, id, secret),
    openSigningSecret: (teamId, id, stored) =>
      isSealed(stored) ? openSecret(ring(), teamId, id, stored) : stored,
  };
}

export function tokenContext(teamId: number, id: string): SealContext {
  return { purpose: "token", teamId, id };
}

function readValue(keys: KeyRing, context: SealContext, sealed: Buffer): Secret | "unreadable" {
  try {
    return new Secret(unseal(keys, context, sealed));
  } catch (error) {
    if (error instanceof SealError) return "unreadable";
    throw error;
  }
}

function withPublicId(stored: VaultToken): VaultToken {
  return { ...stored, id: formatId("tok", stored.id) };
}

function uuidsOf(tokenIds: readonly string[]): string[] {
  return tokenIds.map((tokenId) => parseId("tok", tokenId)).filter((id) => id !== null);
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

function echo(text: string): string {
  return text.length <= LONGEST_ECHO ? text : `${text.slice(0, LONGEST_ECHO)}…`;
}
