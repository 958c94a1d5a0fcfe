import { type TSchema, Type } from "typebox";
import { DELIVERY_STATUSES } from "../../domain/delivery.ts";
import type {
  Attempt as AttemptRecord,
  NotificationState as NotificationRecord,
  PollsSeen,
  Shape,
} from "../../domain/task.ts";
import { instant, integerOrNull, model, oneOf, textMap, textOrNull } from "../schemas/field.ts";
import { jsonWriter } from "./json-text.ts";

const answerHead = {
  statusCode: Type.Integer(),
  headers: textMap({
    description: "Headers of the answer, names in lower case.",
    examples: [{ "content-type": "text/plain" }],
  }),
};
const answerTail = {
  duration: Type.Integer({ description: "Milliseconds." }),
  truncated: Type.Optional(Type.Boolean({ description: "True if the body was cut." })),
};

export const TaskResult = model("TaskResult", "The last answer of the target, or what a callback brought.", {
  ...answerHead,
  body: Type.String({
    description:
      "The answer as text, at most 1 MiB (`BELLHOP_RESULT_LIMIT`), or the whole body of a callback.",
  }),
  ...answerTail,
});

export const TaskResultSummary = model("TaskResultSummary", "A result in a list: everything but its body.", {
  ...answerHead,
  ...answerTail,
});

/** A field of a part of a task: its names in queue tasks and in direct tasks, its schema, its value. */
type PartField<Part> = readonly [queue: string, direct: string, TSchema, of: (part: Part) => unknown];

function partModel<Part>(
  name: string,
  description: string,
  shape: Shape,
  fields: readonly PartField<Part>[],
) {
  const named = fields.map(
    ([queue, direct, schema]) => [shape === "queue" ? queue : direct, schema] as const,
  );
  return model(name, description, Object.fromEntries(named));
}

function partWriters<Part>(fields: readonly PartField<Part>[]) {
  return {
    queue: jsonWriter(fields.map(([name, , , of]) => ({ name, of }))),
    direct: jsonWriter(fields.map(([, name, , of]) => ({ name, of }))),
  };
}

const attemptStatus = oneOf(
  ["active", "success", "failed", "timeout", "interrupted", "aborted", "blocked", "superseded"],
  { description: "How the attempt ended; `active` while it runs." },
);
const phase = oneOf(["not_sent", "sent", "responded"], {
  description: "How far the call got. `sent`: the target may have acted on it although no answer came.",
});

const ATTEMPT_FIELDS: readonly PartField<AttemptRecord>[] = [
  ["number", "number", Type.Integer({ description: "From 1." }), (attempt) => attempt.number],
  ["status", "status", attemptStatus, (attempt) => attempt.status],
  [
    "response_code",
    "responseCode",
    integerOrNull("Null when there was no answer."),
    (attempt) => attempt.responseCode,
  ],
  ["executed_at", "executedAt", instant("When the attempt began."), (attempt) => attempt.executedAt],
  [
    "duration",
    "duration",
    integerOrNull("Milliseconds; null while it runs."),
    (attempt) => attempt.durationMs,
  ],
  [
    "connect_ms",
    "connectMs",
    Type.Optional(
      Type.Integer({ description: "Milliseconds until the connection was open; omitted below one." }),
    ),
    (attempt) => attempt.connectMs,
  ],
  [
    "first_byte_ms",
    "firstByteMs",
    Type.Optional(
      Type.Integer({
        description:
          "Milliseconds until the answer began; omitted if the whole answer had arrived by then, or there was none.",
      }),
    ),
    (attempt) => attempt.firstByteMs,
  ],
  ["phase", "phase", phase, (attempt) => attempt.phase],
  ["error", "error", textOrNull("What went wrong, for people."), (attempt) => attempt.error],
];

export const Attempt = partModel("Attempt", "One try.", "queue", ATTEMPT_FIELDS);
export const DirectAttempt = partModel("DirectAttempt", "One try.", "direct", ATTEMPT_FIELDS);
export const writeAttempt = partWriters(ATTEMPT_FIELDS);

const POLL_FIELDS: readonly PartField<PollsSeen>[] = [
  ["count", "count", Type.Integer({ description: "The number of polls." }), (polls) => polls.count],
  ["last_at", "lastAt", instant("When the last one was answered."), (polls) => polls.at],
  [
    "last_answer",
    "lastAnswer",
    Type.String({
      description: "Its answer: a status code, or the network failure.",
      examples: ["200", "timeout"],
    }),
    (polls) => polls.answer,
  ],
  [
    "last_error",
    "lastError",
    Type.Optional(
      Type.String({
        description:
          "Why the last poll yielded no status, such as a name that does not resolve or a 503; omitted if it did.",
        examples: ["The provider answered 503"],
      }),
    ),
    (polls) => polls.error,
  ],
];

const aboutPolls =
  "How the job of a task that is being polled was asked for so far. `run_at` says when next.";
export const Polls = partModel("Polls", aboutPolls, "queue", POLL_FIELDS);
export const DirectPolls = partModel("DirectPolls", aboutPolls, "direct", POLL_FIELDS);
export const writePolls = partWriters(POLL_FIELDS);

const NOTIFICATION_FIELDS: readonly PartField<NotificationRecord>[] = [
  ["url", "url", Type.String({ description: "The URL of the notification." }), ({ url }) => url],
  [
    "status",
    "status",
    oneOf(DELIVERY_STATUSES, { description: "`failed`: given up after the last try." }),
    ({ status }) => status,
  ],
  [
    "attempts",
    "attempts",
    Type.Integer({ description: "The number of tries; a resend restarts at 0." }),
    ({ attempts }) => attempts,
  ],
  [
    "last_error",
    "lastError",
    textOrNull("Why the last try failed; null before the first try and once it is delivered."),
    ({ lastError }) => lastError,
  ],
  [
    "next_at",
    "nextAt",
    Type.Unsafe<string | null>({
      type: ["string", "null"],
      format: "date-time",
      description: "When the next try is due; null once it was delivered or given up.",
    }),
    ({ nextAt }) => nextAt,
  ],
];

const aboutNotification = "What became of one notification to the task's completion address.";
export const NotificationState = partModel(
  "NotificationState",
  aboutNotification,
  "queue",
  NOTIFICATION_FIELDS,
);
export const DirectNotificationState = partModel(
  "DirectNotificationState",
  aboutNotification,
  "direct",
  NOTIFICATION_FIELDS,
);
export const writeNotification = partWriters(NOTIFICATION_FIELDS);
