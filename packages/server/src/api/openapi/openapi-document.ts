import { fastify } from "fastify";
import { createApi } from "../server.ts";

const absent = async (): Promise<never> => {
  throw new Error("Only the document was asked for: there is no service behind it");
};

/** The OpenAPI document without a server: it depends on the schemas alone. */
export async function buildOpenApiDocument(version: string, publicUrl: string): Promise<object> {
  const app = await createApi({
    tasks: { create: absent, get: absent, list: absent, remove: absent },
    queues: { create: absent, list: absent, get: absent, update: absent, setPaused: absent, remove: absent },
    auth: { authenticate: absent, recall: () => null, recheck: absent },
    limits: { count: absent },
    visits: { left: () => 0, refuse() {}, count() {} },
    health: { check: absent },
    providers: { list: () => [], find: () => null },
    vault: { isOpen: true, create: absent, list: absent, revoke: absent },
    callbacks: { admit: absent, resolve: absent },
    apiKeys: { create: absent, list: absent, revoke: absent },
    audit: { list: absent },
    signIn: { requestLink: absent, exchange: absent },
    sessions: { end: absent, switchTeam: absent },
    signingSecrets: { get: absent, rotate: absent, secretsFor: absent },
    teams: { whoAmI: absent, list: absent, create: absent, get: absent, rename: absent },
    members: { list: absent, changeRole: absent, remove: absent, leave: absent },
    invitations: { create: absent, list: absent, revoke: absent },
    applications: { create: absent, list: absent, remove: absent, rotate: absent },
    authorizations: { list: absent, end: absent },
    oauth: {
      issuer: () => publicUrl,
      findVisitor: absent,
      review: absent,
      exchange: absent,
      revoke: absent,
    },
    refuseUrl: () => null,
    log: fastify({ logger: false }).log,
    version,
    publicUrl,
    bodyLimitBytes: 1024 * 1024,
  });
  await app.ready();
  return app.swagger();
}
