import { type Static, Type } from "typebox";
import { MOST_SIMULATED_ATTEMPTS } from "../../domain/simulation.ts";
import { SIMULATED_OUTCOMES, type Simulation } from "../../domain/task.ts";
import { LONGEST_DELAY_SECONDS } from "../../domain/task-request.ts";
import { model, oneOf } from "./field.ts";

const fields = {
  outcome: oneOf(SIMULATED_OUTCOMES, {
    description:
      "What becomes of the call: `complete`, a 2xx; `fail`, another answer; `timeout`, none; `callback`, a 2xx after which " +
      "the task waits and is ended by its callback. A task that is polled or waits for a callback does so after `complete` too.",
  }),
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: LONGEST_DELAY_SECONDS,
      default: 0,
      description: "Seconds that the attempt takes, or that the task waits for what ends it.",
    }),
  ),
  body: Type.Optional(
    Type.Unknown({
      description:
        "What is answered, or what the callback brings: text, or any other JSON value, kept as JSON; at most 64 KiB.",
      examples: [{ ok: true }],
    }),
  ),
  attempts: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MOST_SIMULATED_ATTEMPTS,
      default: 1,
      description: "The attempt from which on the outcome is this one; those before it fail with 500.",
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
