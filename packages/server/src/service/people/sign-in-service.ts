// Sign-in by mail, without a password. Guarantees: neither the answer, its time nor the limits reveal whether an
// address is known; a link works once, even if two requests present it at the same time; and only the newest works.
import { readEmail } from "../../domain/identity/email.ts";
import type { SendMail } from "../../domain/identity/mail.ts";
import type { RequestOrigin } from "../../domain/identity/principal.ts";
import { sourceOf } from "../../domain/identity/source-address.ts";
import { Problem } from "../../domain/problem.ts";
import { isAddressOfMember } from "../../store/identity/members.ts";
import { isLinkOpen, replaceSignInLink } from "../../store/identity/sign-in-links.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { hashAddress, limitHits } from "../access/hit-limit.ts";
import { hashSecret, newSecret } from "../access/secret-hash.ts";
import type { TokenSigner } from "../access/token-signer.ts";
import { admitByToken } from "./admission.ts";
import { composeSignInMail } from "./mails.ts";
import { issueToken, type SignedIn } from "./session-service.ts";

export const LINK_MINUTES = 15;
/** Mails to one address, and from one source to any addresses: enough for typos, too few for abuse. */
const MAILS_TO_ADDRESS = { most: 5, seconds: 900 };
const MAILS_FROM_SOURCE = { most: 20, seconds: 900 };
/** A guess among 2^256 never succeeds; this only limits the cost of guesses. */
const EXCHANGES_FROM_SOURCE = { most: 30, seconds: 60 };
/** Of a link: a secret, as `newSecret` makes it. */
const LINK_TOKEN = /^[0-9a-f]{64}$/;

export interface SignInService {
  /** Mails a link. The answer and the work are the same whether or not the address is known. */
  requestLink(
    email: string,
    from: { readonly address: string; readonly nextPath: string | null },
  ): Promise<void>;
  /** Refuses an invalid link. Does not use up a valid one. */
  check(token: string): Promise<void>;
  /** Exchanges a mailed link, of a sign-in or an invitation, for a session. */
  exchange(token: string, origin: RequestOrigin): Promise<SignedIn & { readonly nextPath: string | null }>;
}

/** Creates a sign-in link for this address. Invalidates earlier ones. */
export async function makeSignInLink(
  sql: Sql,
  wanted: { readonly email: string; readonly nextPath: string | null; readonly publicUrl: string },
): Promise<string> {
  const { email, nextPath, publicUrl } = wanted;
  const token = newSecret();
  await replaceSignInLink(sql, { email, hash: hashSecret(token), nextPath, validMinutes: LINK_MINUTES });
  return `${publicUrl}/sign-in/link?token=${token}`;
}

export function createSignInService(deps: {
  readonly database: Database;
  readonly signer: TokenSigner;
  readonly sendMail: SendMail;
  readonly publicUrl: () => string;
  /** `invited`: a person without a team is refused. */
  readonly signUp: "open" | "invited";
  /**
   * False if mail cannot be sent. Then a request creates no link, because that would invalidate the operator's link for
   * the same address.
   */
  readonly sendsLinks: boolean;
  readonly now: () => Date;
}): SignInService {
  const { database, signer, sendMail, publicUrl, signUp, sendsLinks } = deps;

  return {
    async requestLink(text, { address, nextPath }) {
      const email = readEmail(text);
      if (email === null) throw new Problem("invalid", { reason: "email must be a valid mail address" });
      await limitHits(database, `sign-in from ${sourceOf(address)}`, MAILS_FROM_SOURCE);
      await limitHits(database, `sign-in to ${hashAddress(email)}`, MAILS_TO_ADDRESS);
      if (!sendsLinks) return;
      const link = await makeSignInLink(database, { email, nextPath, publicUrl: publicUrl() });
      const isKnown = await isAddressOfMember(database, email);
      if (!isKnown && signUp === "invited") return;
      sendMail(composeSignInMail(email, link, LINK_MINUTES));
    },
    async check(token) {
      if (!LINK_TOKEN.test(token) || !(await isLinkOpen(database, hashSecret(token))))
        throw new Problem("token_invalid");
    },
    async exchange(token, origin) {
      await limitHits(database, `exchange from ${sourceOf(origin.address)}`, EXCHANGES_FROM_SOURCE);
      if (!LINK_TOKEN.test(token)) throw new Problem("token_invalid");
      const admission = await database.transaction((sql) => admitByToken(sql, deps, token, origin));
      const { stored, user, team, nextPath } = admission;
      return { session: await issueToken(signer, stored), user, team, nextPath };
    },
  };
}
