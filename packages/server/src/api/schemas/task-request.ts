import { type Static, Type } from "typebox";
import { BACKOFFS } from "../../domain/backoff.ts";
import { METHODS } from "../../domain/call.ts";
import { MAX_WAIT_DEFAULT_SECONDS, PRIORITY_DEFAULT } from "../../domain/task.ts";
import { instant, model, oneOf, ref, textMap } from "./field.ts";
import { IDEMPOTENCY_KEY_PATTERN } from "./idempotency-key.ts";
import { OwnPollConfig } from "./poll-config.ts";
import { QUEUE_NAME_PATTERN } from "./queue-name.ts";

/** Of `delay` and `run_at` alike: 365 days. */
export const LONGEST_DELAY_SECONDS = 31_536_000;

/** Of a wait for a callback: 30 days. */
const LONGEST_WAIT_SECONDS = 2_592_000;

/** Longer than what most servers accept, short enough to be kept in every row. */
export const LONGEST_URL = 8192;

export const MOST_HEADERS = 64;
export const LARGEST_HEADERS_BYTES = 16 * 1024;

/** In the order that callers read in the text of the rule; new ones go to the end. */
export const STATUSES = ["pending", "active", "completed", "failed", "waiting", "polling"] as const;

export const taskFields = {
  queue: Type.String({ description: "Name of an existing queue.", examples: ["emails"] }),
  webhook_url: Type.String({
    description: `The absolute http or https URL to call, without credentials, at most ${LONGEST_URL} characters.`,
    examples: ["https://example.com/hooks/welcome"],
  }),
  payload: Type.Unsafe<object>({
    type: "object",
    description: "Sent as the JSON body of the call, byte for byte as it was written. Without it: `{}`.",
    examples: [{ user_id: 42 }],
  }),
  delay: Type.Integer({
    minimum: 0,
    maximum: LONGEST_DELAY_SECONDS,
    default: 0,
    description: "Seconds before the task becomes eligible for execution.",
  }),
  priority: Type.Integer({
    minimum: 1,
    maximum: 10,
    default: PRIORITY_DEFAULT,
    description: "1 to 10, higher is processed first.",
  }),
  max_retries: Type.Integer({
    minimum: 0,
    maximum: 100,
    description: "Retries after a failed first attempt. Default: the queue's, at the moment of creation.",
  }),
  method: oneOf(METHODS, { default: "POST", description: "Method of the call." }),
  headers: textMap({
    description:
      `Headers of the call, at most ${MOST_HEADERS} and 16 KiB together. Hop-by-hop headers, Host and ` +
      "Content-Length are refused. A value that starts with `tok_` refers to a vault token.",
    examples: [{ "X-Source": "signup" }],
  }),
  run_at: instant(
    "When the task becomes eligible, with a time zone; at most a year ahead. The past means now.",
  ),
  retry_backoff: oneOf(BACKOFFS, { description: "Default: the queue's, at the moment of creation." }),
  timeout: Type.Integer({
    minimum: 1,
    maximum: 3600,
    description: "Seconds the call may take. Default: the queue's, at the moment of creation.",
  }),
  wait_for_callback: Type.Boolean({
    default: false,
    description: "After a 2xx the task waits for its callback, instead of being completed.",
  }),
  max_wait: Type.Integer({
    minimum: 1,
    maximum: LONGEST_WAIT_SECONDS,
    default: MAX_WAIT_DEFAULT_SECONDS,
    description: "Seconds that the task may wait for its callback before it fails.",
  }),
  provider: Type.String({
    description: "Id of a catalog entry: after a 2xx the result is obtained by polling.",
    examples: ["replicate"],
  }),
  on_complete_url: Type.String({
    description: "Called once when the task has ended, completed or failed, with the record of the task.",
    examples: ["https://example.com/hooks/task-ended"],
  }),
  idempotency_key: Type.String({
    pattern: IDEMPOTENCY_KEY_PATTERN,
    description:
      "1 to 255 printable ASCII characters. The same key and the same body within 24 hours: the first task again.",
    examples: ["signup-42"],
  }),
};

/** What makes a queue task. */
export const CreateTask = model(
  "CreateTask",
  "A call to make later, from a queue. Give `delay` or `run_at`, not both, and at most one of `wait_for_callback`, " +
    "`provider` and `poll_config`: a callback also ends a task that is polled. `{callbackUrl}` and `{callbackId}` in " +
    "the URL, a header or a string of the payload are filled in when the call is made.",
  {
    queue: taskFields.queue,
    webhook_url: taskFields.webhook_url,
    payload: Type.Optional(taskFields.payload),
    delay: Type.Optional(taskFields.delay),
    priority: Type.Optional(taskFields.priority),
    max_retries: Type.Optional(taskFields.max_retries),
    method: Type.Optional(taskFields.method),
    headers: Type.Optional(taskFields.headers),
    run_at: Type.Optional(taskFields.run_at),
    retry_backoff: Type.Optional(taskFields.retry_backoff),
    timeout: Type.Optional(taskFields.timeout),
    wait_for_callback: Type.Optional(taskFields.wait_for_callback),
    max_wait: Type.Optional(taskFields.max_wait),
    provider: Type.Optional(taskFields.provider),
    poll_config: Type.Optional(ref(OwnPollConfig)),
    on_complete_url: Type.Optional(taskFields.on_complete_url),
    idempotency_key: Type.Optional(taskFields.idempotency_key),
  },
  {
    additionalProperties: false,
    examples: [
      {
        queue: "emails",
        webhook_url: "https://example.com/hooks/welcome",
        payload: { user_id: 42 },
        delay: 60,
        priority: 8,
      },
    ],
  },
);
export type CreateTask = Static<typeof CreateTask>;

export const CreateTaskHeaders = Type.Object({
  "Idempotency-Key": Type.Optional(
    Type.String({
      pattern: IDEMPOTENCY_KEY_PATTERN,
      description: "The same as `idempotency_key` or `idempotencyKey` in the body.",
    }),
  ),
});

export const TaskListQuery = Type.Object(
  {
    queue: Type.Optional(
      Type.String({ pattern: QUEUE_NAME_PATTERN, description: "Only tasks of this queue." }),
    ),
    status: Type.Optional(oneOf(STATUSES, { description: "Only tasks in this state." })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, default: 20, description: "Tasks on a page." }),
    ),
    offset: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        default: 0,
        description: "Tasks to skip. For deep lists use `cursor`, which costs the same on every page.",
      }),
    ),
    cursor: Type.Optional(
      Type.String({ description: "`nextCursor` of the page before; instead of `offset`, never both." }),
    ),
  },
  { additionalProperties: false },
);
export type TaskListQuery = Static<typeof TaskListQuery>;

export const TaskPath = Type.Object({
  task_id: Type.String({
    description: "`task_…`, or the UUID that it encodes: every task is found by either.",
    examples: ["task_01k9z3mxe5f8hrk3yv5pzq8c2d"],
  }),
});
