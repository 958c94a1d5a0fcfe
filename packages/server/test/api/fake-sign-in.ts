import type { Principal } from "../../src/domain/identity/principal.ts";
import { Problem } from "../../src/domain/problem.ts";
import { newUuid } from "../../src/service/new-uuid.ts";
import type { SessionService, SignedIn } from "../../src/service/people/session-service.ts";
import type { SignInService } from "../../src/service/people/sign-in-service.ts";

export interface FakeSignIn {
  readonly signIn: SignInService;
  readonly sessions: SessionService;
  /** What reached the services. */
  readonly asked: { readonly email: string; readonly address: string; readonly nextPath: string | null }[];
  readonly exchanged: string[];
  readonly ended: string[];
  /** The links that count, by token: whom they sign in, and where they lead. */
  readonly links: Map<string, { email: string; nextPath: string | null; teamName?: string }>;
  /** The next call is refused with this. */
  refusal: Error | null;
}

/** What routes and pages need to be tried: the rules themselves are tested on the database. */
export function createFakeSignIn(now: Date, signedIn: Map<string, Principal>): FakeSignIn {
  const session = { token: "head.session.signature", expiresAt: new Date(now.getTime() + 24 * 3_600_000) };
  const refuse = () => {
    const { refusal } = fake;
    fake.refusal = null;
    if (refusal !== null) throw refusal;
  };
  const answer = (email: string, name: string): SignedIn => ({
    session,
    user: { id: newUuid(), email },
    team: { id: newUuid(), name, plan: "free" },
  });

  const fake: FakeSignIn = {
    asked: [],
    exchanged: [],
    ended: [],
    links: new Map(),
    refusal: null,
    signIn: {
      async requestLink(email, { address, nextPath }) {
        refuse();
        if (!email.includes("@"))
          throw new Problem("invalid", { reason: "email must be a valid mail address" });
        fake.asked.push({ email, address, nextPath });
      },
      async exchange(token) {
        refuse();
        fake.exchanged.push(token);
        const link = fake.links.get(token);
        if (link === undefined) throw new Problem("token_invalid");
        fake.links.delete(token);
        return { ...answer(link.email, link.teamName ?? "Acme"), nextPath: link.nextPath };
      },
    },
    sessions: {
      async end(_actor, credential) {
        refuse();
        fake.ended.push(credential);
        signedIn.delete(credential);
        return now;
      },
      async switchTeam(requester, credential) {
        refuse();
        fake.ended.push(credential);
        return answer(requester.name, "Other");
      },
    },
  };
  return fake;
}
