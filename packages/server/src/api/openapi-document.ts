import { fastify } from "fastify";
import { createApi } from "./server.ts";

const absent = async (): Promise<never> => {
  throw new Error("Only the document was asked for: there is no service behind it");
};

/** The OpenAPI document without a server: it depends on the schemas alone. */
export async function buildOpenApiDocument(version: string, publicUrl: string): Promise<object> {
  const app = await createApi({
    tasks: { create: absent, get: absent, list: absent, remove: absent },
    queues: { create: absent, list: absent, get: absent, update: absent, setPaused: absent, remove: absent },
    auth: { authenticate: absent, recall: () => null, forget: absent },
    limits: { count: absent },
    health: { check: absent },
    providers: { list: () => [], find: () => null },
    vault: { isOpen: true, create: absent, list: absent, revoke: absent },
    callbacks: { resolve: absent },
    signingSecrets: { get: absent, rotate: absent, secretsFor: absent },
    refuseUrl: () => null,
    log: fastify({ logger: false }).log,
    version,
    publicUrl,
    bodyLimitBytes: 1024 * 1024,
  });
  await app.ready();
  return app.swagger();
}
