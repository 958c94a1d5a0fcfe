import { type Static, type TProperties, Type } from "typebox";
import type { Shape } from "../../domain/task.ts";
import { IDEMPOTENCY_KEY_PATTERN } from "../../domain/task-request.ts";
import type { SaidDedupe } from "../schemas/dedupe.ts";
import { either, instant, model, oneOf, ref, textMap, textOrNull } from "../schemas/field.ts";
import type { SaidSimulation } from "../schemas/simulation.ts";
import { STATUSES } from "../schemas/task-status.ts";
import { type Field, nameIn, type Place, schemaIn } from "./field-row.ts";
import { TASK_FIELDS } from "./task-fields.ts";
import { TaskResult } from "./task-parts.ts";

/** The models of the reference that tell of tasks. */

const FIELDS: readonly Field[] = Object.values(TASK_FIELDS);

/** What may be given for a new task. */
function asked(kind: Shape): TProperties {
  const properties: TProperties = {};
  for (const field of FIELDS) {
    const name = nameIn(field, kind);
    if (name === null || field.ask === undefined) continue;
    const { required, schema = field.schema } = field.ask;
    const isRequired = required === true || required === kind;
    // trusted keys: fields of the table.
    properties[name] = isRequired ? schemaIn(schema, kind) : Type.Optional(schemaIn(schema, kind));
  }
  return properties;
}

function shown(kind: Shape, place: Place): TProperties {
  const properties: TProperties = {};
  for (const field of FIELDS) {
    const name = nameIn(field, kind);
    if (name === null || !field.show?.in.includes(place)) continue;
    const { optional } = field.show;
    const schema = schemaIn(field.schema, kind);
    // trusted keys: fields of the table.
    properties[name] = optional === true || optional === kind ? Type.Optional(schema) : schema;
  }
  return properties;
}

export const CreateTask = model(
  "CreateTask",
  "A call to make later, from a queue. Give `delay` or `run_at`, not both, and at most one of `wait_for_callback`, " +
    "`provider` and `poll_config`: a callback also ends a task that is polled. `{callbackUrl}` and `{callbackId}` in " +
    "the URL, a header or a string of the payload are filled in when the call is made, and make the task wait for its " +
    "callback unless it is polled or says `wait_for_callback: false`.",
  asked("queue"),
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

export const CreateDirectTask = model(
  "CreateDirectTask",
  "A call to make as given. Give `delay` or `delayUntil`, not both, and at most one of `waitForCallback`, `provider` " +
    "and `pollConfig`: a callback also ends a task that is polled. `{callbackUrl}` and `{callbackId}` in the URL, a " +
    "header or the body are filled in when the call is made, and make the task wait for its callback unless it is " +
    "polled or says `waitForCallback: false`.",
  asked("direct"),
  {
    additionalProperties: false,
    examples: [
      {
        targetUrl: "https://api.replicate.com/v1/predictions",
        headers: { Authorization: "tok_01k9z3mxe5f8hrk3yv5pzq8c2d" },
        body: { version: "…", input: { prompt: "a bell" } },
        provider: "replicate",
      },
    ],
  },
);

/** A new task of either kind, by the names that its caller knows. Its values have passed the schema of its kind. */
export type TaskBody = Readonly<Record<string, unknown>> & {
  readonly simulate?: SaidSimulation;
  readonly dedupe?: SaidDedupe;
};

/**
 * A body with `targetUrl` is a direct task, any other a queue task, and each is judged by its own rules alone: with
 * `oneOf` a wrong field would be answered with the mistakes of both. The reference shows it as `oneOf`, see openapi.ts.
 */
export const CreateEitherTask = Type.Unsafe<TaskBody>({
  type: "object",
  if: { properties: { targetUrl: {} }, required: ["targetUrl"] },
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  then: ref(CreateDirectTask),
  else: ref(CreateTask),
});

/** The same fields, none of them required. */
function perhaps(fields: TProperties): TProperties {
  return Type.Partial(Type.Object(fields)).properties;
}

export const CreateTaskHeaders = Type.Object({
  "Idempotency-Key": Type.Optional(
    Type.String({
      pattern: IDEMPOTENCY_KEY_PATTERN,
      description: "The same as `idempotency_key` or `idempotencyKey` in the body.",
    }),
  ),
});

export const CreatedTask = model(
  "CreatedTask",
  "The task as it was accepted. With `wait`, it has the fields of its record too.",
  { ...perhaps(shown("queue", "record")), ...shown("queue", "queue answer") },
);

export const NewDirectTask = model(
  "NewDirectTask",
  "A direct call as it was accepted. With `wait`, it has the fields of its record too.",
  { ...perhaps(shown("direct", "record")), ...shown("direct", "direct answer") },
);

export const CreatedDirectTask = model(
  "CreatedDirectTask",
  "The direct call as it was accepted, and its callback.",
  {
    task: ref(NewDirectTask),
    ...shown("direct", "beside"),
  },
);

export const BriefTask = model(
  "BriefTask",
  "A task of a batch whose answer has no room for more. The callback of a direct task stands beside it.",
  { ...shown("direct", "brief"), ...perhaps(shown("queue", "beside")) },
);

const WAITED = "With `wait`, what `GET /v1/tasks/{task_id}` answers, and the callback.";

export const CreatedAnswer = either(CreatedTask, CreatedDirectTask, `The task as it was accepted. ${WAITED}`);

export const ReplayedAnswer = either(
  CreatedTask,
  CreatedDirectTask,
  "The task that an earlier request with the same idempotency key created, with `Idempotent-Replayed: true`; or the record of " +
    "the task that an earlier request with the same deduplication key created, with `deduplicated: true` or `replaced: true`. " +
    WAITED,
);

export const Task = model("Task", "The record of a task.", shown("queue", "record"));

export const DirectTask = model("DirectTask", "The record of a direct call.", shown("direct", "record"));

export const DirectTaskAnswer = model("DirectTaskAnswer", "The record of a direct call.", {
  task: ref(DirectTask),
});

export const RecordAnswer = either(Task, DirectTaskAnswer, "The record of the task.");

export const TaskSummary = model(
  "TaskSummary",
  "A task in a list: everything but its payload, its attempts and the body of its result.",
  shown("queue", "list"),
);

export const DirectTaskSummary = model(
  "DirectTaskSummary",
  "A direct call in a list: everything but its body, its attempts and the body of its result.",
  shown("direct", "list"),
);

export const TaskList = model("TaskList", "One page of tasks.", {
  tasks: Type.Array(either(TaskSummary, DirectTaskSummary), {
    description: "In the requested order, each in the shape of its creation.",
  }),
  pagination: Type.Object({
    total: Type.Integer({
      description:
        "Matching tasks on all pages. Exact for queue and status; otherwise counted up to 10,000, over 10,000 " +
        "scanned tasks.",
    }),
    totalIsCapped: Type.Optional(Type.Boolean({ description: "True if there may be more than `total`." })),
    limit: Type.Integer(),
    offset: Type.Integer(),
    hasMore: Type.Boolean(),
    nextCursor: textOrNull("`cursor` of the next page; null on the last."),
  }),
});

export const DeletedTask = model("DeletedTask", "The task is gone and will not be called.", {
  id: Type.String({ description: "As requested.", examples: ["task_01k9z3mxe5f8hrk3yv5pzq8c2d"] }),
  deleted: Type.Boolean(),
});

export const RetryTask = model(
  "RetryTask",
  "How a task is restarted. All fields and the body are optional.",
  {
    delay: Type.Optional(TASK_FIELDS.delaySeconds.schema),
    priority: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10,
        description: "1 to 10, higher is processed first. Default: unchanged.",
      }),
    ),
    payload: Type.Optional(
      Type.Unknown({ description: "Of a queue task: replaces the payload. Default: unchanged." }),
    ),
    body: Type.Optional(
      Type.Union(
        [
          Type.String(),
          Type.Unsafe<object>({ type: "object", additionalProperties: true }),
          Type.Array(Type.Unknown()),
        ],
        { description: "Of a direct task: replaces the body. Default: unchanged." },
      ),
    ),
    headers: Type.Optional(
      textMap({
        description: "Replaces all headers. Default: unchanged.",
        examples: [{ "X-Source": "fixed" }],
      }),
    ),
    webhook_url: Type.Optional(
      Type.String({ description: "Of a queue task: replaces the URL. Default: unchanged." }),
    ),
    targetUrl: Type.Optional(
      Type.String({ description: "Of a direct task: replaces the URL. Default: unchanged." }),
    ),
  },
  { additionalProperties: false, examples: [{ delay: 60 }, { payload: { user_id: 43 } }] },
);

export const ResolvedTask = model("ResolvedTask", "The task that the callback ended.", {
  task: Type.Object({
    id: Type.String({
      description: "`task_…` or a UUID, as the task was created.",
      examples: ["019a7e3a-75c5-7a31-a98f-db2dbf745c4d"],
    }),
    status: oneOf(STATUSES, { description: "The state of the task." }),
    result: Type.Optional(ref(TaskResult)),
    createdAt: instant("When the task was accepted."),
    completedAt: Type.Optional(instant("When the callback ended it.")),
  }),
});
export type ResolvedTask = Static<typeof ResolvedTask>;
