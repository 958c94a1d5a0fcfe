import swagger from "@fastify/swagger";
import type { FastifySchema } from "fastify";
import type { Api } from "../http/schema-types.ts";
import { easeClients } from "./client-types.ts";
import { SECURITY, securityOf, securitySchemes } from "./openapi-security.ts";
import { RESPONSE_HEADERS } from "./response-headers.ts";
import { shareAnswers } from "./shared-answers.ts";
import { WEBHOOKS } from "./webhooks.ts";

const DESCRIPTION = `Bellhop makes HTTP calls later: it accepts a task, calls the task's URL when it is due, retries on failure
and keeps the record.

**Errors** are \`{ "error": "<text>", "code": "<code>" }\`: the text for people, the code for programs. When several fields broke
a rule, \`details\` lists each. A field that is not known is an error, in bodies and in query strings alike.

**Rate limits** are a team's, for all of its credentials together, and hold in any 60 seconds. Every authenticated response
to a limited team says where it stands: \`X-RateLimit-Limit\` (requests a minute), \`X-RateLimit-Remaining\` and
\`X-RateLimit-Reset\` (the Unix time in seconds at which the oldest counted request is a minute old).
Over the limit the answer is 429; after \`Retry-After\` seconds the next request fits. What is refused with 429 does not
count. Without a credential an address may make 600 requests in 60 seconds, and 30 callbacks.

**Request id**: every response carries \`X-Request-Id\`, the caller's own if it sent one.

**At least once**: a task that was answered with 201 is on disk and will be called. A call may be made twice when a
machine dies in the middle of it, so targets should be idempotent.

States, retries, polling, callbacks, signatures, guarantees and the policy on versions are described in full on one page,
\`docs/api.md\` of the source.`;

/** Collects the routes that are registered after it. A running server does not: it serves what the build has made of `openapi.json`. */
export async function describeApi(app: Api, version: string, publicUrl: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Bellhop API",
        version,
        description: DESCRIPTION,
        contact: { name: "The operator of this server", url: publicUrl },
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: publicUrl }],
      tags: [
        { name: "Tasks", description: "Each task is one HTTP call, from its creation to its end." },
        {
          name: "Queues",
          description: "Named lists of tasks with concurrency, retry and timeout settings.",
        },
        { name: "Statistics", description: "Queue statistics, for charts." },
        { name: "Schedules", description: "Recurring tasks, by cron." },
        { name: "Vault tokens", description: "Third-party credentials that tasks refer to by id." },
        { name: "Callbacks", description: "Where third parties report the results of tasks." },
        { name: "Signing secret", description: "With it targets verify that a call comes from this server." },
        { name: "API keys", description: "Credentials of programs that call this API." },
        { name: "Audit log", description: "The log of changes: author, origin and time." },
        { name: "Sign-in", description: "Sign-in by a mailed link, for people." },
        { name: "OAuth", description: "Applications that act for a person, or for their own team." },
        { name: "Providers", description: "Third parties whose jobs continue after the first call." },
        { name: "Teams", description: "Teams, members and roles." },
        { name: "Health", description: "For load balancers and orchestrators." },
      ],
      security: SECURITY,
      components: { securitySchemes: securitySchemes(publicUrl), headers: RESPONSE_HEADERS },
    },
    transform: ({ schema, url, route }) => {
      const security = securityOf(route.config?.access);
      return { schema: { ...showChoice(schema), ...(security !== undefined && { security }) }, url };
    },
    transformObject: (made) => {
      if (!("openapiObject" in made)) throw new Error("This is no OpenAPI 3");
      const { paths = {}, components = {} } = made.openapiObject;
      easeClients(made.openapiObject);
      Object.assign(components, { responses: shareAnswers(paths) });
      return Object.assign(made.openapiObject, { webhooks: WEBHOOKS });
    },
    refResolver: {
      buildLocalReference: (json, _base, _fragment, index) => String(json.$id ?? `schema-${index}`),
    },
  });
}

/** Few OpenAPI readers support `if`: such a body is shown as one of two. */
function showChoice<T extends FastifySchema>(schema: T): T {
  const { body } = schema ?? {};
  if (typeof body !== "object" || body === null || !("then" in body) || !("else" in body)) return schema;
  return { ...schema, body: { oneOf: [body.else, body.then] } };
}
