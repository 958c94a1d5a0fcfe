import type { OAuthApplication } from "../../src/domain/identity/oauth-application.ts";
import type { Requester } from "../../src/domain/identity/principal.ts";
import { Problem } from "../../src/domain/problem.ts";
import { formatId } from "../../src/domain/public-id.ts";
import { newUuid } from "../../src/service/new-uuid.ts";
import type { ClientRequest } from "../../src/service/oauth/client-authentication.ts";
import type { ConsentQuestion } from "../../src/service/oauth/consent-service.ts";
import type { OAuthApplicationService } from "../../src/service/oauth/oauth-application-service.ts";
import type { OAuthService, Visitor } from "../../src/service/oauth/oauth-service.ts";
import type { ReceivedParameters } from "../../src/service/oauth/parameters.ts";
import { principalOf } from "../test-principal.ts";

/** What routes and pages need to be tried: the rules themselves are tested on the database. */
export function createFakeApplications(now: Date): OAuthApplicationService {
  const applications = new Map<string, OAuthApplication & { readonly teamId: number }>();
  const find = (teamId: number, clientId: string) => {
    const application = applications.get(clientId);
    if (application?.teamId !== teamId) throw new Problem("application_not_found");
    return application;
  };
  return {
    async create({ teamId }, request) {
      const clientId = formatId("app", newUuid());
      applications.set(clientId, { ...request, teamId, clientId, createdAt: now });
      return { ...request, clientId, createdAt: now, clientSecret: `bhs_${"c".repeat(64)}` };
    },
    list: async ({ teamId }) =>
      [...applications.values()].filter((application) => application.teamId === teamId).reverse(),
    async remove({ teamId }, clientId) {
      const { name } = find(teamId, clientId);
      applications.delete(clientId);
      return { clientId, name, deletedAt: now };
    },
    rotate: async ({ teamId }, clientId) => ({
      ...find(teamId, clientId),
      clientSecret: `bhs_${"d".repeat(64)}`,
    }),
  };
}

export const SESSION = "head.session.signature";

export interface FakeOAuth extends OAuthService {
  /** The query that the page was asked with last, and what the token endpoint was sent. */
  readonly reviewed: ReceivedParameters[];
  readonly received: ClientRequest[];
  /** Who allowed it. */
  readonly allowed: Requester[];
  /** What of the question differs from the usual one. */
  question: Partial<ConsentQuestion>;
  /** Given instead of the question. */
  result: Awaited<ReturnType<OAuthService["review"]>> | null;
  teamName: string;
  /** Thrown by the next call. */
  refusal: unknown;
}

export function createFakeOAuth(): FakeOAuth {
  const refuse = () => {
    const { refusal } = fake;
    fake.refusal = null;
    if (refusal !== null) throw refusal;
  };
  const visitor = (): Visitor => ({
    principal: principalOf(1, { kind: "session", id: "user_1", name: "ada@example.test" }),
    teamName: fake.teamName,
    formProof: (page) => `proof of ${page}`,
    isOwnForm: (page, proof) => proof === `proof of ${page}`,
  });
  const fake: FakeOAuth = {
    reviewed: [],
    received: [],
    allowed: [],
    question: {},
    result: null,
    teamName: "Analytical Engines",
    refusal: null,
    issuer: () => "http://127.0.0.1:8787",
    findVisitor: async (session) => (session === SESSION ? visitor() : null),
    async review(received) {
      fake.reviewed.push(received);
      refuse();
      const question: ConsentQuestion = {
        applicationName: "Reports",
        ownerName: "Difference Ltd",
        scopes: ["tasks:read", "tokens:use"],
        redirectUri: "https://reports.example/cb",
        denied: "https://reports.example/cb?error=access_denied",
        async allow(requester) {
          refuse();
          fake.allowed.push(requester);
          return "https://reports.example/cb?code=c";
        },
        ...fake.question,
      };
      return fake.result ?? { result: "asked", question };
    },
    async exchange(request) {
      fake.received.push(request);
      refuse();
      return { access_token: "a.b.c", token_type: "Bearer", expires_in: 3600, scope: "tasks:read" };
    },
    async revoke(request) {
      fake.received.push(request);
      refuse();
    },
  };
  return fake;
}
