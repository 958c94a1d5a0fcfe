import { createHash } from "node:crypto";
import type { Principal } from "../domain/principal.ts";
import { Problem } from "../domain/problem.ts";
import { findActiveKey } from "../store/api-keys.ts";
import type { Sql } from "../store/sql.ts";

export interface AuthService {
  authenticate(credential: string): Promise<Principal>;
}

/** A revoked key is refused everywhere within this time; until then a known key costs no look into the database. */
const FRESH_MS = 1_000;
/** Unknown keys are remembered too, so the memory must have an end. */
const MAX_REMEMBERED = 10_000;

const API_KEY = /^bh_(live|test)_[A-Za-z0-9]{32,128}$/;

export function hashKey(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}

export function isApiKey(text: string): boolean {
  return API_KEY.test(text);
}

interface Remembered {
  readonly untilMs: number;
  readonly found: Promise<Principal | null>;
}

export function createAuthService(deps: {
  readonly sql: Sql;
  readonly monotonicMs: () => number;
}): AuthService {
  const remembered = new Map<string, Remembered>();

  function find(hash: Buffer): Promise<Principal | null> {
    const id = hash.toString("latin1");
    const nowMs = deps.monotonicMs();
    const known = remembered.get(id);
    if (known !== undefined && nowMs < known.untilMs) return known.found;
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    const found = findActiveKey(deps.sql, hash);
    remembered.set(id, { untilMs: nowMs + FRESH_MS, found });
    found.catch(() => remembered.delete(id));
    return found;
  }

  return {
    async authenticate(credential) {
      if (!isApiKey(credential))
        throw new Problem(credential.startsWith("bh_") ? "api_key_invalid" : "token_invalid");
      const principal = await find(hashKey(credential));
      if (principal === null) throw new Problem("api_key_invalid");
      return principal;
    },
  };
}
