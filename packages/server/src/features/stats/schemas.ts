import { type Static, Type } from "typebox";
import { instant, model, oneOf, ref, textOrNull } from "../../api/schemas/field.ts";
import { sandbox } from "../../api/schemas/sandbox.ts";
import { QUEUE_READ_PATTERN } from "../../domain/queue.ts";
import { STATS_RANGES, type StatsRange } from "../../domain/queue-stats.ts";
import { FAILURE_REASONS } from "../../domain/task.ts";

const RANGES = Object.keys(STATS_RANGES).filter((name): name is StatsRange => name in STATS_RANGES);

const range = oneOf(RANGES, { description: "The time range." });

export const FailuresQuery = Type.Object({ range, sandbox }, { additionalProperties: false });
export const QueueStatsQuery = Type.Object(
  {
    range,
    queue: Type.Optional(Type.String({ pattern: QUEUE_READ_PATTERN, description: "Only this queue." })),
    sandbox,
  },
  { additionalProperties: false },
);

const counts = (description: string) => Type.Array(Type.Integer(), { description });
const numbers = (description: string) =>
  Type.Array(Type.Unsafe<number | null>({ type: ["number", "null"] }), { description });
const quantiles = (description: string) =>
  Type.Object(
    {
      p50: numbers("Half of them took no longer; null where there was none."),
      p95: numbers("Of twenty, nineteen took no longer; null where there was none."),
    },
    { description },
  );
const count = (description: string) => Type.Integer({ description });

const QueueSeries = model("QueueSeries", "What happened in a queue, with a number for each step.", {
  queue: textOrNull("The queue; null in `total`."),
  created: counts("Tasks created."),
  completed: counts("Tasks that completed."),
  failed: counts("Tasks that failed for good."),
  cancelled: counts("Tasks that were cancelled."),
  retried: counts("Attempts that failed and were followed by another, and tasks that were retried by hand."),
  pending: Type.Array(Type.Unsafe<number | null>({ type: ["integer", "null"] }), {
    description:
      "Pending tasks, due or not, sampled once a minute; the maximum in a longer step. Null if no node sampled.",
  }),
  wait_ms: quantiles("From the time a task was due until its attempt began, of attempts begun in the step."),
  duration_ms: quantiles("How long calls took, of attempts that ended in the step."),
  oldest_pending_at: Type.Unsafe<string | null>({
    type: ["string", "null"],
    format: "date-time",
    description: "When the oldest pending task became due; null if none is due.",
  }),
  now: Type.Object(
    {
      pending: count("Tasks that are pending."),
      active: count("Tasks that are being called."),
      waiting: count("Tasks that wait for a callback."),
      polling: count("Tasks that are polled."),
    },
    { description: "The current state." },
  ),
});
export type QueueSeries = Static<typeof QueueSeries>;

export const QueueStatistics = model("QueueStatistics", "What happened in the queues of the team.", {
  stats: Type.Object({
    range: oneOf(RANGES, { description: "As requested." }),
    from: instant("When the first step begins."),
    to: instant("When it was asked for: the last step is not over."),
    step_seconds: Type.Integer({ description: "The length of a step." }),
    at: Type.Array(Type.String({ format: "date-time" }), { description: "The start of each step." }),
    queues: Type.Array(ref(QueueSeries), {
      description: "By name. With more than 100 queues, or more than 1 MiB of them, only the busiest.",
    }),
    total: ref(QueueSeries),
  }),
});

export const FailureGroup = model("FailureGroup", "Failed tasks that failed in the same way.", {
  queue: Type.String({ description: "Their queue.", examples: ["emails"] }),
  host: Type.String({ description: "The host that was called.", examples: ["api.example.com"] }),
  failure_reason: textOrNull("Why they failed, as in their records."),
  response_code: textOrNull(
    "How the last attempt was answered: a status code, `timeout` or `network`; null where it was not made to its end.",
  ),
  error: Type.String({
    description: "The error of the newest of them, with the target's own words.",
    examples: ["The target answered 402: Card declined for customer cus_1001"],
  }),
  count: count("How many there are."),
  course: Type.Array(Type.Integer(), {
    description: "How many of them failed in each of 30 steps of the range, which are equally long.",
  }),
  count_is_capped: Type.Boolean({
    description: "There may be more: not all tasks of the queue were scanned.",
  }),
  first_seen: instant("When the first of them failed."),
  last_seen: instant("When the last of them failed."),
  top_tags: Type.Array(Type.Object({ tag: Type.String(), count: Type.Integer() }), {
    description: "The most frequent tags of them, at most three, each with the number of tasks that have it.",
  }),
  top_metadata: Type.Array(Type.Object({ key: Type.String(), value: Type.String(), count: Type.Integer() }), {
    description: "The most frequent entries of their metadata, at most three, each with the number of tasks.",
  }),
  sample_task: Type.String({
    description: "The newest task of the group.",
    examples: ["task_01k9z3mxe5f8hrk3yv5pzq8c2d"],
  }),
  filter: Type.Object(
    {
      queue: Type.String(),
      status: Type.String(),
      host: Type.Optional(Type.String()),
      failure_reason: Type.Optional(oneOf(FAILURE_REASONS)),
      response_code: Type.Optional(Type.String()),
      error: Type.Optional(Type.String()),
      created_after: Type.String({ format: "date-time" }),
      dismissed: oneOf(["false"]),
      sandbox: Type.Optional(Type.Boolean()),
    },
    { description: "The filter that finds them, for `POST /v1/tasks/bulk` and the list of tasks." },
  ),
});

export const FailureList = model("FailureList", "Groups of failed tasks, the largest first.", {
  failures: Type.Array(ref(FailureGroup)),
});
