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
 * The value of a reference at the time of a call. `unreadable`: the token exists, but its key is missing on this node
 * or its row was tampered with; the operator can fix that, the caller cannot.
 */
export type Resolved =
  | { readonly value: Secret; readonly allowedHosts: readonly string[] | null }
  | "revoked"
  | "unknown"
  | "unreadable";

/** A text that is sealed in the row that it belongs to: a callback id, or the URL of an alert's channel. */
export type SealedText = "callback" | "alert";

/**
 * Third-party credentials, readable only with a key that is not in the database. The sandbox of a team has its own: the
 * reach decides which environment a caller stores, sees and revokes.
 */
export interface Vault {
  /** False without a key: everything that needs one is refused. */
  readonly isOpen: boolean;
  put(
    reach: Reach,
    name: string,
    value: Secret,
    allowedHosts: readonly string[] | null,
    /** The transaction that the token is stored in, if in one. */
    within?: Sql,
  ): Promise<VaultToken>;
  /** Active tokens, newest first. */
  list(reach: Reach, page?: PageRequest): Promise<VaultToken[]>;
  /** Null if there is no active token with this id. */
  find(reach: Reach, tokenId: string): Promise<VaultToken | null>;
  /** Null if there is no active token with this id. Erases the stored value. */
  revoke(reach: Reach, tokenId: string, within?: Sql): Promise<RevokedToken | null>;
  /**
   * Refuses references that cannot be used for this URL. Later changes are detected by `resolve`. A sandbox task, which
   * makes no call, may name live tokens too.
   */
  check(reach: Reach, references: readonly VaultReference[], targetUrl: string): Promise<void>;
  /** Refuses text that contains the id of a usable token, active or revoked. Needs no key. */
  refuseMentions(reach: Reach, mentions: readonly VaultReference[]): Promise<void>;
  /**
   * The only access to a value, for live tokens. Call it right before the call, and check `allowedHosts` against the
   * target.
   */
  resolve(teamId: number, tokenIds: readonly string[]): Promise<Map<string, Resolved>>;
  sealText(purpose: SealedText, teamId: number, id: string, text: string): Buffer;
  /** Throws a SealError for another context. */
  openText(purpose: SealedText, teamId: number, id: string, sealed: Buffer): string;
  /** The stored form of a signing secret: encrypted if there is a key. */
  sealSigningSecret(teamId: number, id: string, secret: string): string;
  /** Throws a SealError, or the problem that there is no vault. An unencrypted secret needs none. */
  openSigningSecret(teamId: number, id: string, stored: string): string;
}

const newUuid = createUuidSource({ nowMs: Date.now, fillRandom: randomFillSync });

/** Request values are repeated only up to this length; an id is shorter. */
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
