import { type Static, Type } from "typebox";
import { METHODS } from "../../domain/call.ts";
import { POLL_DEFAULTS } from "../../domain/poll/poll-config.ts";
import { POLL_LIMITS } from "../../domain/poll/poll-rules.ts";
import { model, oneOf } from "./field.ts";

function template(description: string, example: string) {
  return Type.String({
    minLength: 1,
    maxLength: POLL_LIMITS.template,
    description: `${description} May hold variables \`{startResult.body.<path>}\`, filled from the answer to the first call.`,
    examples: [example],
  });
}

function path(minLength: number, description: string, example: string) {
  return Type.String({ minLength, maxLength: POLL_LIMITS.path, description, examples: [example] });
}

/** Only behind `refuseLongLists`: ajv collects an error for each item, however many there are. */
function texts(minItems: number, maxItems: number, maxLength: number, description: string) {
  return Type.Array(Type.String({ minLength: 1, maxLength }), { minItems, maxItems, description });
}

const { values, value, headers, header } = POLL_LIMITS;

const fields = {
  urlTemplate: template(
    "The URL to poll with GET: https, or on the origin of the first call.",
    "https://api.example.com/jobs/{startResult.body.id}",
  ),
  interval: Type.Number({
    minimum: POLL_LIMITS.minInterval,
    maximum: POLL_LIMITS.maxInterval,
    default: POLL_DEFAULTS.interval,
    description: "Seconds between polls.",
  }),
  statusPath: path(
    1,
    "Dotted path to the status in the answer to a poll, or `_httpStatus`: the status code of the answer is the status.",
    "status",
  ),
  doneValues: texts(1, values, value, "Status values that mean success, compared as text."),
  failValues: texts(
    0,
    values,
    value,
    "Status values that mean failure. Any other status means still running.",
  ),
  resultPath: path(
    0,
    "Dotted path to the result. Empty, or if nothing is there: the whole answer. `_binaryUrl`: the bytes are not " +
      "stored, the result is the URL that they can be fetched from.",
    "output",
  ),
  errorPath: path(1, "Dotted path to what went wrong, in an answer that reports failure.", "error"),
  resultUrlTemplate: template(
    "The URL to fetch the result from once the job is done, if the answer to the poll does not hold it.",
    "{startResult.body.response_url}",
  ),
  cancelUrlTemplate: template(
    "The URL to call once if the task is cancelled while it is polled. Best effort: what is answered changes nothing.",
    "https://api.example.com/jobs/{startResult.body.id}/cancel",
  ),
  cancelMethod: oneOf(METHODS, { description: "Method of that call; default: POST." }),
  forwardAuth: Type.Boolean({
    default: POLL_DEFAULTS.forwardAuth,
    description:
      "Send the first call's Authorization and X-API-Key with polls to the origin of the first call, or to an " +
      "origin in the provider's catalog entry.",
  }),
  forwardHeaders: texts(
    0,
    headers,
    header,
    "Further headers of the first call to send along by the same rule.",
  ),
  maxDuration: Type.Number({
    minimum: POLL_LIMITS.minDuration,
    maximum: POLL_LIMITS.maxDuration,
    default: POLL_DEFAULTS.maxDuration,
    description: "Seconds of polling before the task fails.",
  }),
};

const optional = {
  errorPath: Type.Optional(fields.errorPath),
  resultUrlTemplate: Type.Optional(fields.resultUrlTemplate),
  cancelUrlTemplate: Type.Optional(fields.cancelUrlTemplate),
  cancelMethod: Type.Optional(fields.cancelMethod),
  forwardHeaders: Type.Optional(fields.forwardHeaders),
};

export const PollConfig = model("PollConfig", "How the result of a task is obtained by polling.", {
  ...fields,
  ...optional,
});
export type PollConfig = Static<typeof PollConfig>;

export const OwnPollConfig = model(
  "OwnPollConfig",
  "How to obtain the result by polling, instead of `provider`.",
  {
    ...fields,
    ...optional,
    interval: Type.Optional(fields.interval),
    resultPath: Type.Optional(fields.resultPath),
    forwardAuth: Type.Optional(fields.forwardAuth),
    maxDuration: Type.Optional(fields.maxDuration),
  },
  {
    additionalProperties: false,
    examples: [
      {
        urlTemplate: "https://api.example.com/jobs/{startResult.body.id}",
        statusPath: "status",
        doneValues: ["done"],
        failValues: ["failed"],
        resultPath: "output",
      },
    ],
  },
);
export type OwnPollConfig = Static<typeof OwnPollConfig>;
