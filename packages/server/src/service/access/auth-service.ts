import type { Principal } from "../../domain/identity/principal.ts";
import { Problem } from "../../domain/problem.ts";
import type { FailureLimit } from "./failure-limit.ts";

export interface AuthService {
  authenticate(credential: string, address: string): Promise<Principal>;
  /** The cached principal of this credential; null if it is not known for sure. */
  recall(credential: string): Principal | null;
  /**
   * A credential was revoked on this node: from now on each is looked up again, so that the revoked one is refused at
   * once.
   */
  recheck(): void;
}

/** Finds the principal of a credential of one kind; null if it is invalid. */
export type FindPrincipal = (credential: string) => Promise<Principal | null>;

/** A revoked credential is refused everywhere within this time; until then a cached one needs no database query. */
const FRESH_MS = 1_000;
/** Far more than call within a second; limits the cache. */
const MAX_REMEMBERED = 10_000;

/** Three parts by dots: a session or an access token. */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;
const API_KEY = /^bh_(live|test)_[A-Za-z0-9]{32,128}$/;

interface Remembered {
  untilMs: number;
  readonly found: Promise<Principal | null>;
  /** The principal, once found. */
  principal: Principal | null;
  /** It was valid at the last lookup and may be invalid now. */
  isKnown: boolean;
}

export function createAuthService(deps: {
  readonly findKey: FindPrincipal;
  readonly findToken: FindPrincipal;
  readonly failures: FailureLimit;
  readonly monotonicMs: () => number;
}): AuthService {
  const { failures } = deps;
  const remembered = new Map<string, Remembered>();

  function remember(credential: string, entry: Remembered): void {
    // Most recently used last: the first entry is evicted.
    remembered.delete(credential);
    remembered.set(credential, entry);
    if (remembered.size > MAX_REMEMBERED) remembered.delete(remembered.keys().next().value ?? "");
  }

  /** Unless it was evicted meanwhile, or looked up again. */
  function replace(credential: string, entry: Remembered, by: Remembered | undefined): void {
    if (remembered.get(credential) !== entry) return;
    if (by?.isKnown) remembered.set(credential, by);
    else remembered.delete(credential);
  }

  function find(credential: string, look: FindPrincipal): Promise<Principal | null> {
    const nowMs = deps.monotonicMs();
    const known = remembered.get(credential);
    if (known !== undefined && nowMs < known.untilMs) return known.found;
    const found = look(credential);
    const isKnown = known?.isKnown === true;
    const entry: Remembered = { untilMs: nowMs + FRESH_MS, found, principal: null, isKnown };
    remember(credential, entry);
    found.then(
      (principal) => {
        entry.principal = principal;
        entry.isKnown = principal !== null;
        // A guessed credential must not evict known ones.
        if (principal === null) replace(credential, entry, undefined);
      },
      // The database is unreachable: a known credential stays known.
      () => replace(credential, entry, known),
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
      const mayCount = isToken || API_KEY.test(credential);
      const look = async () => (mayCount ? find(credential, isToken ? deps.findToken : deps.findKey) : null);
      // A recently valid credential is looked up regardless of other failures from the same address.
      const isKnown = remembered.get(credential)?.isKnown === true;
      const principal = await (isKnown ? look() : failures.attempt(address, look));
      if (principal !== null) return principal;
      if (isKnown) failures.count(address);
      throw new Problem(refusal);
    },
    recheck() {
      for (const entry of remembered.values()) entry.untilMs = Number.NEGATIVE_INFINITY;
    },
  };
}
