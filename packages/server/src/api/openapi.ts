import swagger from "@fastify/swagger";
import type { FastifySchema } from "fastify";
import type { Api } from "./schema-types.ts";
import {
  CreatedDirectTask,
  DirectAttempt,
  DirectTask,
  DirectTaskAnswer,
  DirectTaskSummary,
  ResolvedTask,
} from "./schemas/direct-task-record.ts";
import { CreateDirectTask } from "./schemas/direct-task-request.ts";
import { ErrorBody } from "./schemas/error.ts";
import { Readiness } from "./schemas/health.ts";
import { OwnPollConfig, PollConfig } from "./schemas/poll-config.ts";
import { Provider, ProviderList } from "./schemas/provider.ts";
import {
  CreateQueue,
  DeletedQueue,
  Queue,
  QueueList,
  QueueStats,
  QueueWithStats,
  UpdateQueue,
} from "./schemas/queue.ts";
import { SigningSecretAnswer } from "./schemas/signing-secret.ts";
import { TaskList } from "./schemas/task-answer.ts";
import { Attempt, CreatedTask, DeletedTask, Task, TaskResult, TaskSummary } from "./schemas/task-record.ts";
import { CreateTask } from "./schemas/task-request.ts";
import { CreateToken, RevokedToken, Token, TokenAnswer, TokenList } from "./schemas/token.ts";

const DESCRIPTION = `Bellhop makes HTTP calls later: it accepts a task, calls the task's URL when it is due, retries on failure
and keeps the record.

**Errors** are \`{ "error": "<text>" }\`; when several fields broke a rule, \`details\` lists each. A field that is not
known is an error, in bodies and in query strings alike.

**Request id**: every response carries \`X-Request-Id\`, the caller's own if it sent one.

**At least once**: a task that was answered with 201 is on disk and will be called. A call may be made twice when a
machine dies in the middle of it, so targets should be idempotent.`;

/** Collects the routes that are registered after it. */
export async function describeApi(app: Api, version: string, publicUrl: string): Promise<void> {
  for (const schema of [
    ErrorBody,
    Readiness,
    CreateTask,
    CreateDirectTask,
    CreatedTask,
    CreatedDirectTask,
    Task,
    DirectTask,
    DirectTaskAnswer,
    TaskSummary,
    DirectTaskSummary,
    TaskList,
    TaskResult,
    Attempt,
    DirectAttempt,
    DeletedTask,
    ResolvedTask,
    CreateQueue,
    UpdateQueue,
    Queue,
    QueueWithStats,
    QueueStats,
    QueueList,
    DeletedQueue,
    PollConfig,
    OwnPollConfig,
    Provider,
    ProviderList,
    CreateToken,
    Token,
    TokenAnswer,
    TokenList,
    RevokedToken,
    SigningSecretAnswer,
  ]) {
    app.addSchema(schema);
  }
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Bellhop API",
        version,
        description: DESCRIPTION,
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: publicUrl }],
      tags: [
        { name: "Tasks", description: "One HTTP call each, with its life until it ends." },
        { name: "Queues", description: "Named lanes with concurrency, retry and timeout settings." },
        { name: "Vault tokens", description: "Third-party credentials that tasks refer to by id." },
        { name: "Callbacks", description: "Where third parties report the results of tasks." },
        { name: "Signing secret", description: "With it targets can tell that a call is ours." },
        { name: "Providers", description: "Third parties whose jobs outlive the first call." },
        { name: "Health", description: "For load balancers and orchestrators." },
      ],
      security: [{ apiKey: [] }, { apiKeyHeader: [] }],
      components: {
        securitySchemes: {
          apiKey: {
            type: "http",
            scheme: "bearer",
            description: "An API key: `bh_live_…`, or `bh_test_…` for the sandbox.",
          },
          apiKeyHeader: {
            type: "apiKey",
            in: "header",
            name: "X-API-Key",
            description: "The same key, in a header of its own.",
          },
        },
      },
    },
    transform: ({ schema, url }) => ({ schema: showChoice(schema), url }),
    refResolver: {
      buildLocalReference: (json, _base, _fragment, index) => String(json.$id ?? `schema-${index}`),
    },
  });
  app.get("/openapi.json", { schema: { hide: true } }, async () => app.swagger());
}

/** Few readers of OpenAPI know `if`: a body that is judged by one of two rules is shown as one of two. */
function showChoice<T extends FastifySchema>(schema: T): T {
  const { body } = schema ?? {};
  if (typeof body !== "object" || body === null || !("then" in body) || !("else" in body)) return schema;
  return { ...schema, body: { oneOf: [body.else, body.then] } };
}
