import { type Static, Type } from "typebox";
import { METHODS } from "../../domain/call.ts";
import { instant, model, oneOf, ref, textMap } from "./field.ts";
import { OwnPollConfig } from "./poll-config.ts";
import { CreateTask, LONGEST_URL, MOST_HEADERS, taskFields } from "./task-request.ts";

export const directFields = {
  targetUrl: Type.String({
    description: `The absolute http or https URL to call, without credentials, at most ${LONGEST_URL} characters.`,
    examples: ["https://api.replicate.com/v1/predictions"],
  }),
  method: oneOf(METHODS, { default: "POST", description: "Method of the call." }),
  headers: textMap({
    description:
      `Headers of the call, at most ${MOST_HEADERS} and 16 KiB together, sent as they are. Hop-by-hop headers, Host ` +
      "and Content-Length are refused. A value that starts with `tok_` refers to a vault token.",
    examples: [{ Authorization: "tok_01k9z3mxe5f8hrk3yv5pzq8c2d", "Content-Type": "application/json" }],
  }),
  body: Type.String({
    description: "Sent as the body of the call, as it is. Without it the call has no body.",
    examples: ['{"version":"…","input":{"prompt":"a bell"}}'],
  }),
  delayUntil: instant(
    "When the task becomes eligible, with a time zone; at most a year ahead. The past means now.",
  ),
  sign: Type.Boolean({
    default: false,
    description: "Sign the call with the team's signing secret (Standard Webhooks).",
  }),
};

/** What makes a direct task. */
export const CreateDirectTask = model(
  "CreateDirectTask",
  "A call to make as given. Give `delay` or `delayUntil`, not both, and at most one of `waitForCallback`, `provider` " +
    "and `pollConfig`: a callback also ends a task that is polled. `{callbackUrl}` and `{callbackId}` in the URL, a " +
    "header or the body are filled in when the call is made.",
  {
    targetUrl: directFields.targetUrl,
    headers: Type.Optional(directFields.headers),
    body: Type.Optional(directFields.body),
    provider: Type.Optional(taskFields.provider),
    queue: Type.Optional(
      Type.String({ default: "default", description: "Name of an existing queue.", examples: ["media"] }),
    ),
    method: Type.Optional(directFields.method),
    delay: Type.Optional(taskFields.delay),
    delayUntil: Type.Optional(directFields.delayUntil),
    priority: Type.Optional(taskFields.priority),
    maxRetries: Type.Optional(taskFields.max_retries),
    retryBackoff: Type.Optional(taskFields.retry_backoff),
    timeout: Type.Optional(taskFields.timeout),
    waitForCallback: Type.Optional(taskFields.wait_for_callback),
    maxWait: Type.Optional(taskFields.max_wait),
    pollConfig: Type.Optional(ref(OwnPollConfig)),
    onCompleteUrl: Type.Optional(taskFields.on_complete_url),
    idempotencyKey: Type.Optional(taskFields.idempotency_key),
    sign: Type.Optional(directFields.sign),
  },
  {
    additionalProperties: false,
    examples: [
      {
        targetUrl: "https://api.replicate.com/v1/predictions",
        headers: { Authorization: "tok_01k9z3mxe5f8hrk3yv5pzq8c2d", "Content-Type": "application/json" },
        body: '{"version":"…","input":{"prompt":"a bell"}}',
        provider: "replicate",
      },
    ],
  },
);
export type CreateDirectTask = Static<typeof CreateDirectTask>;

/**
 * A body with `targetUrl` is a direct task, any other a queue task, and each is judged by its own rules alone: with `oneOf`
 * a wrong field would be answered with the mistakes of both. The reference shows it as `oneOf`, see openapi.ts.
 */
export const CreateEitherTask = Type.Unsafe<CreateTask | CreateDirectTask>({
  type: "object",
  if: { properties: { targetUrl: {} }, required: ["targetUrl"] },
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  then: ref(CreateDirectTask),
  else: ref(CreateTask),
});
