import type { ProtectedHeaderParameters } from "jose";
import type { Database } from "../../store/sql.ts";
import { createSetKeys, createStoredKeys } from "./session-keys.ts";

/** A token with our signature that has not expired: its use, and the secret id by whose hash its row is found. */
export interface VerifiedToken {
  readonly use: TokenUse;
  readonly id: string;
}

export type TokenUse = "session" | "access";

export interface TokenClaims {
  readonly use: TokenUse;
  readonly id: string;
  /** The subject: a user's or an application's public id. */
  readonly subject: string;
  /** At most a day ahead: older keys are removed when no token can need them. */
  readonly expiresAt: Date;
}

export interface TokenSigner {
  sign(claims: TokenClaims): Promise<string>;
  /** Null for any text that is not a valid token of ours. */
  verify(text: string): Promise<VerifiedToken | null>;
}

const ISSUER = "bellhop";
const ALGORITHM = "HS256";
/**
 * Ours have about 400 characters. Decoders tolerate extra characters, and the two spare bits of a signature's last
 * digit; this code does not: a revoked token has no other spelling.
 */
const LONGEST_TOKEN = 2048;
const THREE_PARTS = /^[\w-]+\.[\w-]+\.[\w-]{42}[AEIMQUYcgkosw048]$/;

/** `typ` and `aud` both name the use: no library can confuse the two kinds. */
const KINDS: Readonly<Record<TokenUse, { readonly typ: string; readonly audience: string }>> = {
  session: { typ: "session+jwt", audience: "bellhop:session" },
  access: { typ: "at+jwt", audience: "bellhop:api" },
};

/** Loaded for the first token: many servers never see one. */
let loading: Promise<typeof import("jose")> | undefined;
function loadJose(): Promise<typeof import("jose")> {
  loading ??= import("jose");
  return loading;
}

/** Without configured keys (`sessionKeys`) they are created, stored and rotated in the database. */
export function createTokenSigner(deps: {
  readonly database: Database;
  readonly sessionKeys: readonly string[];
  readonly monotonicMs: () => number;
  readonly now: () => Date;
}): TokenSigner {
  const keys = deps.sessionKeys.length > 0 ? createSetKeys(deps.sessionKeys) : createStoredKeys(deps);

  return {
    async sign({ use, id, subject, expiresAt }) {
      const { SignJWT } = await loadJose();
      const key = await keys.signing();
      const { typ, audience } = KINDS[use];
      return new SignJWT()
        .setProtectedHeader({ alg: ALGORITHM, kid: key.id, typ })
        .setIssuer(ISSUER)
        .setAudience(audience)
        .setSubject(subject)
        .setJti(id)
        .setIssuedAt(deps.now())
        .setExpirationTime(expiresAt)
        .sign(key.secret);
    },
    async verify(text) {
      const header = text.length <= LONGEST_TOKEN && THREE_PARTS.test(text) ? await readHeader(text) : null;
      const use = header === null ? null : useOf(header.typ);
      if (header?.alg !== ALGORITHM || typeof header.kid !== "string" || use === null) return null;
      // An unreachable database says nothing about the token: its error is passed on.
      const key = await keys.find(header.kid);
      if (key === null) return null;
      const { errors, jwtVerify } = await loadJose();
      try {
        const { payload } = await jwtVerify(text, key.secret, {
          algorithms: [ALGORITHM],
          issuer: ISSUER,
          audience: KINDS[use].audience,
          typ: KINDS[use].typ,
          requiredClaims: ["sub", "jti", "iat", "exp"],
          currentDate: deps.now(),
        });
        return typeof payload.jti === "string" && payload.jti !== "" ? { use, id: payload.jti } : null;
      } catch (error) {
        if (error instanceof errors.JOSEError) return null;
        throw error;
      }
    },
  };
}

/** The token's own header, not verified yet. */
async function readHeader(text: string): Promise<ProtectedHeaderParameters | null> {
  const { decodeProtectedHeader } = await loadJose();
  try {
    return decodeProtectedHeader(text);
  } catch {
    return null;
  }
}

function useOf(typ: unknown): TokenUse | null {
  if (typ === KINDS.session.typ) return "session";
  return typ === KINDS.access.typ ? "access" : null;
}
