import { isIP } from "node:net";
import type { Logger } from "pino";
import type { Config } from "./config.ts";
import { createMailer, type Mailer } from "./outbound/mailer.ts";
import { turnSessionKeys } from "./service/access/session-keys.ts";
import { createTokenSigner, type TokenSigner } from "./service/access/token-signer.ts";
import { createSessionService, type SessionService } from "./service/people/session-service.ts";
import { createSignInService, type SignInService } from "./service/people/sign-in-service.ts";
import type { Database } from "./store/sql.ts";

export interface SignIn {
  readonly mailer: Mailer;
  readonly signer: TokenSigner;
  readonly signIn: SignInService;
  readonly sessions: SessionService;
  readonly actors: readonly { readonly name: string; readonly once: () => Promise<number> }[];
}

/** The part of the house by which people come in. */
export function composeSignIn(deps: {
  readonly config: Config;
  readonly database: Database;
  readonly log: Logger;
  readonly monotonicMs: () => number;
  readonly publicUrl: () => string;
}): SignIn {
  const { config, database, log, monotonicMs, publicUrl } = deps;
  const { sessionKeys, smtpUrl, signUp } = config;
  const now = () => new Date();
  const mailer = createMailer({ smtpUrl, from: config.mailFrom ?? defaultSender(config), log });
  const signer = createTokenSigner({ database, sessionKeys, monotonicMs, now });
  return {
    mailer,
    signer,
    signIn: createSignInService({ database, signer, sendMail: mailer.send, publicUrl, signUp, now }),
    sessions: createSessionService({ database, signer }),
    // The operator's own keys are the operator's to replace.
    actors: sessionKeys.length > 0 ? [] : [{ name: "session-keys", once: () => turnSessionKeys(database) }],
  };
}

/** An address needs a name behind its @: for a bare IP address nobody would take it. */
function defaultSender({ publicUrl, host }: Config): string {
  const name = publicUrl === null ? host : new URL(publicUrl).hostname;
  const bare = name.replace(/^\[|\]$/g, "");
  return `Bellhop <bellhop@${isIP(bare) === 0 ? bare : "localhost"}>`;
}
