import { createHash } from "node:crypto";
import type { Principal } from "../domain/principal.ts";
import { Problem } from "../domain/problem.ts";
import { findActiveKey } from "../store/api-keys.ts";
import type { Sql } from "../store/sql.ts";

export interface AuthService {
  authenticate(credential: string): Promise<Principal>;
  /** Who this credential was a moment ago, without asking; null if that is not known for sure. */
  recall(credential: string): Principal | null;
}

/** A revoked key is refused everywhere within this time; until then a known key costs no look into the database. */
const FRESH_MS = 1_000;
/** Unknown keys are remembered too, so the memory must have an end. */
const MAX_REMEMBERED = 10_000;

/** Three parts by dots: a session or an access token, of which there are none yet. */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;
const API_KEY = /^bh_(live|test)_[A-Za-z0-9]{32,128}$/;

export function hashKey(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}

interface Remembered {
  readonly untilMs: number;
  readonly found: Promise<Principal | null>;
  /** What was found, once it was. */
  principal: Principal | null;
}

export function createAuthService(deps: {
  readonly sql: Sql;
  readonly monotonicMs: () => number;
}): AuthService {
  const remembered = new Map<string, Remembered>();

  function find(key: string): Promise<Principal | null> {
    const nowMs = deps.monotonicMs();
    const known = remembered.get(key);
    if (known !== undefined && nowMs < known.untilMs) return known.found;
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    const found = findActiveKey(deps.sql, hashKey(key));
    const entry: Remembered = { untilMs: nowMs + FRESH_MS, found, principal: null };
    remembered.set(key, entry);
    found.then(
      (principal) => {
        entry.principal = principal;
      },
      () => remembered.delete(key),
    );
    return found;
  }

  return {
    recall(credential) {
      const known = remembered.get(credential);
      return known !== undefined && deps.monotonicMs() < known.untilMs ? known.principal : null;
    },
    async authenticate(credential) {
      if (JWT.test(credential)) throw new Problem("token_invalid");
      if (!API_KEY.test(credential)) throw new Problem("api_key_invalid");
      const principal = await find(credential);
      if (principal === null) throw new Problem("api_key_invalid");
      return principal;
    },
  };
}
