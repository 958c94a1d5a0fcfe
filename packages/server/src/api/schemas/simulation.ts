import { type Static, Type } from "typebox";
import { MOST_SIMULATED_ATTEMPTS } from "../../domain/simulation.ts";
import { SIMULATED_OUTCOMES, type Simulation } from "../../domain/task.ts";
import { LONGEST_DELAY_SECONDS } from "../../domain/task-request.ts";
import { model, oneOf } from "./field.ts";

const fields = {
  outcome: oneOf(SIMULATED_OUTCOMES, {
    description:
      "The simulated result of the call: `complete`, a 2xx; `fail`, another status; `timeout`, no answer; " +
      "`callback`, a 2xx after which the task waits and its callback ends it. A task that is polled or waits for" +
      " a callback does so after `complete` too.",
  }),
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: LONGEST_DELAY_SECONDS,
      default: 0,
      description: "Duration of the attempt in seconds, or of the wait until the task is ended.",
    }),
  ),
  body: Type.Optional(
    Type.Unknown({
      description:
        "The body of the answer or of the callback: text, or any other JSON value, kept as JSON; at most 64 KiB.",
      examples: [{ ok: true }],
    }),
  ),
  attempts: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MOST_SIMULATED_ATTEMPTS,
      default: 1,
      description: "The first attempt with this outcome; earlier ones fail with 500.",
    }),
  ),
};

const code = Type.Optional(
  Type.Integer({
    minimum: 100,
    maximum: 599,
    description: "The status code of the answer. Default: 200, or 500 with `fail`.",
  }),
);

const about = "How a task of the sandbox is to go, instead of a call. Only with a test key.";

/** Of a queue task. */
export const QueueSimulation = model(
  "Simulation",
  about,
  { ...fields, response_code: code },
  { additionalProperties: false, examples: [{ outcome: "fail", response_code: 503, attempts: 1 }] },
);

/** Of a direct task. */
export const DirectSimulation = model(
  "DirectSimulation",
  about,
  { ...fields, responseCode: code },
  { additionalProperties: false, examples: [{ outcome: "complete", responseCode: 201, body: { ok: true } }] },
);

export const SIMULATION_NAMES = [...Object.keys(fields), "response_code", "responseCode"];

export type SaidSimulation = Static<typeof QueueSimulation> | Static<typeof DirectSimulation>;

/** Takes what has passed its schema. */
export function readSimulation(said: SaidSimulation): Simulation {
  const responseCode =
    "responseCode" in said ? said.responseCode : "response_code" in said ? said.response_code : null;
  const { outcome, after = 0, body = "", attempts = 1 } = said;
  return {
    outcome,
    afterSeconds: after,
    responseCode: responseCode ?? null,
    body: typeof body === "string" ? body : JSON.stringify(body),
    attempts,
  };
}
