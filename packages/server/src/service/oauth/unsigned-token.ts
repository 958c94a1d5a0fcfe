import type { JwtInterface } from "@jmondi/oauth2-server";
import { formatId } from "../../domain/public-id.ts";
import type { NewToken } from "../access/token-signer.ts";
import { parseHolder } from "./holder.ts";

/**
 * Stands where the library signs, and only notes what is to be signed. The signer may have to read its keys, which must
 * not be within the transaction; and of what the library would sign (an audience of the caller's choosing is among it)
 * nothing counts but who, which token and how long.
 */
export interface UnsignedToken extends JwtInterface {
  /** What the library meant to sign. */
  readonly noted: NewToken | null;
}

export function createUnsignedToken(clientId: string): UnsignedToken {
  let noted: NewToken | null = null;
  return {
    get noted() {
      return noted;
    },
    async sign(payload) {
      if (typeof payload !== "object" || Buffer.isBuffer(payload)) throw new TypeError("Unexpected claims");
      const { jti, exp, sub } = payload;
      if (typeof jti !== "string" || typeof exp !== "number") throw new TypeError("Unexpected claims");
      const subject = typeof sub === "string" ? formatId("user", parseHolder(sub).userId) : clientId;
      noted = { use: "access", id: jti, subject, expiresAt: new Date(exp * 1000) };
      return "";
    },
    // Codes and refresh tokens are opaque: there is nothing else that the library could want to read.
    async verify() {
      throw new TypeError("No token is read here");
    },
    decode: () => null,
  };
}
