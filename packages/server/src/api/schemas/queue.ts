import { type Static, Type } from "typebox";
import { BACKOFFS } from "../../domain/backoff.ts";
import { BREAKER_DEFAULTS, BREAKER_RANGES } from "../../domain/breaker.ts";
import { FLOW_LIMITS } from "../../domain/flow.ts";
import { ON_FAILURE, QUEUE_DEFAULTS, QUEUE_NAME_PATTERN } from "../../domain/queue.ts";
import { LONGEST_RETRY_DELAY_SECONDS } from "../../domain/task-request.ts";
import { instant, integerOrNull, model, oneOf, ref, statusList } from "./field.ts";
import { PageQuery, pagination } from "./page.ts";
import { sandbox } from "./sandbox.ts";

const name = Type.String({
  pattern: QUEUE_NAME_PATTERN,
  description: "1 to 64 letters, digits or hyphens; unique in the team; never changes.",
  examples: ["emails"],
});

const figure = (field: keyof typeof BREAKER_RANGES, description: string) =>
  Type.Optional(
    (field === "ratio" ? Type.Number : Type.Integer)({
      ...BREAKER_RANGES[field],
      default: BREAKER_DEFAULTS[field],
      description,
    }),
  );

const breakerFigures = Type.Object(
  {
    failures: figure("failures", "It opens at so many failed attempts within `within` seconds,"),
    ratio: figure("ratio", "if they are at least this part of all attempts in that time."),
    within: figure("within", "Seconds."),
    cooldown: figure("cooldown", "Seconds until the probe; doubles with every probe that fails, up to 600."),
  },
  { additionalProperties: false },
);

const BREAKER_TEXT =
  "Circuit breaker, for each host that the queue calls: attempts that fail by timeout, network error or 5xx open it, and " +
  "the tasks of that host then wait without losing an attempt, until one of them as a probe is answered. " +
  "`true`: with the defaults.";

export const queueSettings = {
  concurrency: Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: QUEUE_DEFAULTS.concurrency,
    description: "Tasks of this queue that may execute at the same time, across all nodes.",
  }),
  max_retries: Type.Integer({
    minimum: 0,
    maximum: 100,
    default: QUEUE_DEFAULTS.maxRetries,
    description: "Retries after a failed first attempt.",
  }),
  retry_backoff: oneOf(BACKOFFS, {
    default: QUEUE_DEFAULTS.backoff,
    description: "Delay between attempts: always `retry_delay`, or doubling from it up to an hour.",
  }),
  retry_delay: Type.Integer({
    minimum: 0,
    maximum: 3600,
    default: QUEUE_DEFAULTS.retryDelaySeconds,
    description: "Seconds before the first retry.",
  }),
  retry_max_delay: Type.Integer({
    minimum: 1,
    maximum: LONGEST_RETRY_DELAY_SECONDS,
    default: QUEUE_DEFAULTS.retryMaxDelaySeconds,
    description: "Maximum delay between two attempts in seconds.",
  }),
  no_retry_statuses: statusList(
    'Answers that end a task at once, `failure_reason: "not_retryable"`. None unless it is said.',
  ),
  timeout: Type.Integer({
    minimum: 1,
    maximum: 3600,
    default: QUEUE_DEFAULTS.timeoutSeconds,
    description: "Seconds a call may take, from connecting to the last byte of the answer.",
  }),
  ordered: Type.Boolean({
    default: QUEUE_DEFAULTS.ordered,
    description:
      "Strict order: tasks start in the order of creation, one at a time, each when the one before has ended. " +
      "`concurrency` is 1, and priorities are ignored.",
  }),
  on_failure: oneOf(ON_FAILURE, {
    default: QUEUE_DEFAULTS.onFailure,
    description:
      "Of an ordered queue: whether its line goes on after a failed task, or stops until that task is retried and " +
      "completes, or is dismissed.",
  }),
  rate: Type.Union([Type.Integer({ minimum: 1, maximum: FLOW_LIMITS.rate }), Type.Literal(false)], {
    default: false,
    description:
      "At most so many calls of the queue begin in any `rate_period` seconds, across all nodes; retries count. " +
      "`false`: no rate.",
  }),
};

const optionalSettings = {
  concurrency: Type.Optional(queueSettings.concurrency),
  max_retries: Type.Optional(queueSettings.max_retries),
  retry_backoff: Type.Optional(queueSettings.retry_backoff),
  retry_delay: Type.Optional(queueSettings.retry_delay),
  retry_max_delay: Type.Optional(queueSettings.retry_max_delay),
  no_retry_statuses: Type.Optional(queueSettings.no_retry_statuses),
  timeout: Type.Optional(queueSettings.timeout),
  ordered: Type.Optional(queueSettings.ordered),
  on_failure: Type.Optional(queueSettings.on_failure),
  rate: Type.Optional(queueSettings.rate),
  rate_period: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: FLOW_LIMITS.periodSeconds,
      description: "Seconds; 1 unless it is said. Only with `rate`.",
    }),
  ),
  breaker: Type.Optional(
    Type.Union([Type.Boolean(), breakerFigures], { default: false, description: BREAKER_TEXT }),
  ),
};

export const CreateQueue = model(
  "CreateQueue",
  "A queue and the settings that differ from the defaults.",
  { name, ...optionalSettings },
  { additionalProperties: false, examples: [{ name: "emails", concurrency: 10 }] },
);

export const UpdateQueue = model("UpdateQueue", "The settings to change.", optionalSettings, {
  additionalProperties: false,
  examples: [{ concurrency: 20, timeout: 60 }],
});
export type UpdateQueue = Static<typeof UpdateQueue>;

const queueFields = {
  name,
  ...queueSettings,
  rate_period: integerOrNull("Seconds; null without a rate."),
  breaker: Type.Union([Type.Literal(false), Type.Required(breakerFigures)], { description: BREAKER_TEXT }),
  paused: Type.Boolean({ description: "A paused queue accepts tasks and starts none." }),
  created_at: instant("When the queue was created."),
  updated_at: instant("When a setting or the pause switch last changed."),
};

export const Queue = model("Queue", "A queue and its settings.", queueFields);
export type Queue = Static<typeof Queue>;

export const QueueStats = model("QueueStats", "How many tasks of the queue are in each state.", {
  pending: Type.Integer({ description: "Waiting to start, delayed or to be retried." }),
  active: Type.Integer({ description: "Being executed now." }),
  completed: Type.Integer(),
  failed: Type.Integer(),
  waiting: Type.Integer({ description: "Waiting for a callback." }),
  polling: Type.Integer({ description: "Being polled." }),
  cancelled: Type.Integer(),
});

export const QueueWithStats = model("QueueWithStats", "A queue, its settings and its counters.", {
  ...queueFields,
  stats: ref(QueueStats),
});
export type QueueWithStats = Static<typeof QueueWithStats>;

export const QueueList = model("QueueList", "All queues of the team.", {
  queues: Type.Array(ref(QueueWithStats)),
  pagination,
});

export const QueueListQuery = Type.Object(
  { ...PageQuery.properties, sandbox },
  { additionalProperties: false },
);

export const DeletedQueue = model("DeletedQueue", "The queue is gone.", {
  name,
  deleted: Type.Boolean(),
  tasks_deleted: Type.Integer({ description: "The number of deleted pending tasks." }),
});

export const QueuePath = Type.Object({ queue_name: Type.String({ examples: ["emails"] }) });
