import type { Mail } from "../../../src/domain/identity/mail.ts";
import { createSessionLookup, createTokenLookup } from "../../../src/service/access/principals.ts";
import { createTokenSigner, type TokenSigner } from "../../../src/service/access/token-signer.ts";
import { createSessionService, type SessionService } from "../../../src/service/people/session-service.ts";
import { createSignInService, type SignInService } from "../../../src/service/people/sign-in-service.ts";
import { createTestDatabase } from "../../test-database.ts";
import type { TextDatabase } from "../../test-sql.ts";

export const VISITOR = { address: "192.0.2.7", requestId: "request-1" };

/** The sign-in on a database of its own, with a mailbox in place of the mail server. */
export interface SignInScene {
  readonly database: TextDatabase;
  readonly mails: Mail[];
  readonly signer: TokenSigner;
  readonly signIn: SignInService;
  readonly sessions: SessionService;
  readonly lookUp: ReturnType<typeof createTokenLookup>;
  /** Another node of the same server. */
  node(signUp?: "open" | "invited"): SignInService;
  /** Asks for a link, from a source that has asked for nothing yet, and gives the token in the mail. */
  linkFor(email: string): Promise<string>;
  close(): Promise<void>;
}

export async function openSignInScene(): Promise<SignInScene> {
  const test = await createTestDatabase();
  const { database } = test;
  const mails: Mail[] = [];
  const now = () => new Date();
  const newSigner = () =>
    createTokenSigner({ database, sessionKeys: [], monotonicMs: () => performance.now(), now });
  const signer = newSigner();
  const node = (signUp: "open" | "invited" = "open") =>
    createSignInService({
      database,
      signer: newSigner(),
      sendMail: (mail) => mails.push(mail),
      publicUrl: () => "https://bellhop.example",
      signUp,
      sendsLinks: true,
      now,
    });
  const signIn = node();
  let sources = 0;
  return {
    database,
    mails,
    signer,
    signIn,
    node,
    sessions: createSessionService({ database, signer }),
    lookUp: createTokenLookup({
      signer,
      findSession: createSessionLookup(database),
      findAccess: async () => null,
    }),
    async linkFor(email) {
      sources += 1;
      await signIn.requestLink(email, { address: `198.51.100.${sources}`, nextPath: null });
      return tokenIn(mails.at(-1));
    },
    close: () => test.drop(),
  };
}

export function tokenIn(mail: Mail | undefined): string {
  return (
    /https:\/\/bellhop\.example\/sign-in\/link\?token=([0-9a-f]{64})\b/.exec(mail?.text ?? "")?.[1] ?? ""
  );
}

export const audit = (database: TextDatabase) =>
  database.rows<{
    team_id: number;
    action: string;
    actor_kind: string;
    actor_id: string;
    actor_name: string;
    target: string;
    address: string;
    request_id: string;
    detail: Record<string, unknown> | null;
  }>(
    `select team_id, action, actor_kind, actor_id, actor_name, target, address, request_id, detail
       from audit_events order by at, id`,
  );
