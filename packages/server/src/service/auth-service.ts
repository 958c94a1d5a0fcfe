import type { Principal } from "../domain/principal.ts";
import { Problem } from "../domain/problem.ts";
import type { FailureLimit } from "./failure-limit.ts";

export interface AuthService {
  authenticate(credential: string, address: string): Promise<Principal>;
  /** Who this credential was a moment ago, without asking; null if that is not known for sure. */
  recall(credential: string): Principal | null;
  /** A credential that was ended on this node counts no more, at once. */
  forget(credential: string): void;
}

/** Finds who a credential of one kind speaks for; null if it does not count. */
export type FindPrincipal = (credential: string) => Promise<Principal | null>;

/** A revoked credential is refused everywhere within this time; until then a known one costs no look into the database. */
const FRESH_MS = 1_000;
/** Far more than call within a second; the memory must have an end. */
const MAX_REMEMBERED = 10_000;

/** Three parts by dots: a session or an access token. */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;
const API_KEY = /^bh_(live|test)_[A-Za-z0-9]{32,128}$/;

interface Remembered {
  readonly untilMs: number;
  readonly found: Promise<Principal | null>;
  /** What was found, once it was. */
  principal: Principal | null;
}

export function createAuthService(deps: {
  readonly findKey: FindPrincipal;
  readonly findToken: FindPrincipal;
  readonly failures: FailureLimit;
  readonly monotonicMs: () => number;
}): AuthService {
  const { failures } = deps;
  const remembered = new Map<string, Remembered>();

  function find(credential: string, look: FindPrincipal): Promise<Principal | null> {
    const nowMs = deps.monotonicMs();
    const known = remembered.get(credential);
    if (known !== undefined && nowMs < known.untilMs) return known.found;
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    const found = look(credential);
    const entry: Remembered = { untilMs: nowMs + FRESH_MS, found, principal: null };
    remembered.set(credential, entry);
    found.then(
      (principal) => {
        entry.principal = principal;
        // Whoever guesses must not push the others out.
        if (principal === null) remembered.delete(credential);
      },
      () => remembered.delete(credential),
    );
    return found;
  }

  return {
    recall(credential) {
      const known = remembered.get(credential);
      return known !== undefined && deps.monotonicMs() < known.untilMs ? known.principal : null;
    },
    async authenticate(credential, address) {
      const isToken = JWT.test(credential);
      const refusal = isToken ? "token_invalid" : "api_key_invalid";
      // Whoever was valid a while ago may ask again, however many others fail from the same address.
      if ((remembered.get(credential)?.principal ?? null) === null) failures.refuse(address);
      const mayCount = isToken || API_KEY.test(credential);
      const principal = mayCount ? await find(credential, isToken ? deps.findToken : deps.findKey) : null;
      if (principal !== null) return principal;
      failures.count(address);
      throw new Problem(refusal);
    },
    forget(credential) {
      remembered.delete(credential);
    },
  };
}
