import { type TSchema, Type } from "typebox";
import type { Attempt as AttemptRecord } from "../../domain/task.ts";
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

export const writeAttempt = {
  queue: jsonWriter(ATTEMPT_FIELDS.map(([name, , , of]) => ({ name, of }))),
  direct: jsonWriter(ATTEMPT_FIELDS.map(([, name, , of]) => ({ name, of }))),
};
