import { Type } from "typebox";
import type { Attempt as AttemptRecord, Shape } from "../../domain/task.ts";
import { instant, integerOrNull, model, oneOf, textMap, textOrNull } from "../schemas/field.ts";
import { jsonWriter } from "./json-text.ts";

/** The specification's order, and behind it what came later. */
export const STATUSES = ["pending", "active", "completed", "failed", "waiting", "polling"] as const;

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

/** Every field of an attempt, with its names in queue tasks and in direct tasks. */
const ATTEMPT_FIELDS = [
  {
    names: { queue: "number", direct: "number" },
    schema: Type.Integer({ description: "From 1." }),
    of: (attempt: AttemptRecord) => attempt.number,
  },
  {
    names: { queue: "status", direct: "status" },
    schema: oneOf(["active", "success", "failed", "timeout", "interrupted", "blocked", "superseded"], {
      description: "How the attempt ended; `active` while it runs.",
    }),
    of: (attempt: AttemptRecord) => attempt.status,
  },
  {
    names: { queue: "response_code", direct: "responseCode" },
    schema: integerOrNull("Null when there was no answer."),
    of: (attempt: AttemptRecord) => attempt.responseCode,
  },
  {
    names: { queue: "executed_at", direct: "executedAt" },
    schema: instant("When the attempt began."),
    of: (attempt: AttemptRecord) => attempt.executedAt,
  },
  {
    names: { queue: "duration", direct: "duration" },
    schema: integerOrNull("Milliseconds; null while it runs."),
    of: (attempt: AttemptRecord) => attempt.durationMs,
  },
  {
    names: { queue: "phase", direct: "phase" },
    schema: oneOf(["not_sent", "sent", "responded"], {
      description: "How far the call got. `sent`: the target may have acted on it although no answer came.",
    }),
    of: (attempt: AttemptRecord) => attempt.phase,
  },
  {
    names: { queue: "error", direct: "error" },
    schema: textOrNull("What went wrong, for people."),
    of: (attempt: AttemptRecord) => attempt.error,
  },
];

function attemptProperties(kind: Shape) {
  return Object.fromEntries(ATTEMPT_FIELDS.map(({ names, schema }) => [names[kind], schema]));
}

export const Attempt = model("Attempt", "One try.", attemptProperties("queue"));
export const DirectAttempt = model("DirectAttempt", "One try.", attemptProperties("direct"));

function attemptWriter(kind: Shape) {
  return jsonWriter(ATTEMPT_FIELDS.map(({ names, of }) => ({ name: names[kind], of })));
}

export const writeAttempt = { queue: attemptWriter("queue"), direct: attemptWriter("direct") };
