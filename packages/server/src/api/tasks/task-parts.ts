import { type TSchema, Type } from "typebox";
import type { Attempt as AttemptRecord, PollsSeen } from "../../domain/task.ts";
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
  truncated: Type.Optional(Type.Boolean({ description: "True when the body was cut." })),
};

export const TaskResult = model("TaskResult", "The last answer of the target, or what a callback brought.", {
  ...answerHead,
  body: Type.String({
    description:
      "The answer as text, at most 1 MiB of it (`BELLHOP_RESULT_LIMIT`), or what a callback brought, whole.",
  }),
  ...answerTail,
});

export const TaskResultSummary = model("TaskResultSummary", "A result in a list: everything but its body.", {
  ...answerHead,
  ...answerTail,
});

type AttemptField = readonly [
  queue: string,
  direct: string,
  TSchema,
  of: (attempt: AttemptRecord) => unknown,
];

const attemptStatus = oneOf(
  ["active", "success", "failed", "timeout", "interrupted", "aborted", "blocked", "superseded"],
  { description: "How the attempt ended; `active` while it runs." },
);
const phase = oneOf(["not_sent", "sent", "responded"], {
  description: "How far the call got. `sent`: the target may have acted on it although no answer came.",
});

/** Every field of an attempt: its names in queue tasks and in direct tasks, its schema, its value. */
const ATTEMPT_FIELDS: readonly AttemptField[] = [
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
      Type.Integer({ description: "Milliseconds until there was a connection; left out below one." }),
    ),
    (attempt) => attempt.connectMs,
  ],
  [
    "first_byte_ms",
    "firstByteMs",
    Type.Optional(
      Type.Integer({
        description:
          "Milliseconds until the answer began; left out where all of it was there by then, or none came.",
      }),
    ),
    (attempt) => attempt.firstByteMs,
  ],
  ["phase", "phase", phase, (attempt) => attempt.phase],
  ["error", "error", textOrNull("What went wrong, for people."), (attempt) => attempt.error],
];

export const Attempt = model(
  "Attempt",
  "One try.",
  Object.fromEntries(ATTEMPT_FIELDS.map(([name, , schema]) => [name, schema])),
);
export const DirectAttempt = model(
  "DirectAttempt",
  "One try.",
  Object.fromEntries(ATTEMPT_FIELDS.map(([, name, schema]) => [name, schema])),
);

type PollField = readonly [queue: string, direct: string, TSchema, of: (polls: PollsSeen) => unknown];

/** The polls of a task, in the same way. */
const POLL_FIELDS: readonly PollField[] = [
  ["count", "count", Type.Integer({ description: "How many polls there were." }), (polls) => polls.count],
  ["last_at", "lastAt", instant("When the last one was answered."), (polls) => polls.at],
  [
    "last_answer",
    "lastAnswer",
    Type.String({
      description: "Its answer: a status code, or what went wrong on the way.",
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
          "Why the last one told nothing of the job, such as a name that does not resolve or a 503; left out where it did.",
        examples: ["The provider answered 503"],
      }),
    ),
    (polls) => polls.error,
  ],
];

const aboutPolls =
  "How the job of a task that is being polled was asked for so far. `run_at` says when next.";
export const Polls = model(
  "Polls",
  aboutPolls,
  Object.fromEntries(POLL_FIELDS.map(([name, , schema]) => [name, schema])),
);
export const DirectPolls = model(
  "DirectPolls",
  aboutPolls,
  Object.fromEntries(POLL_FIELDS.map(([, name, schema]) => [name, schema])),
);

export const writePolls = {
  queue: jsonWriter(POLL_FIELDS.map(([name, , , of]) => ({ name, of }))),
  direct: jsonWriter(POLL_FIELDS.map(([, name, , of]) => ({ name, of }))),
};

export const writeAttempt = {
  queue: jsonWriter(ATTEMPT_FIELDS.map(([name, , , of]) => ({ name, of }))),
  direct: jsonWriter(ATTEMPT_FIELDS.map(([, name, , of]) => ({ name, of }))),
};
