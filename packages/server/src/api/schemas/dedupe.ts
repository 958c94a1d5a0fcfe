import { type Static, Type } from "typebox";
import { DEDUPE_MODES, type Dedupe, LONGEST_WINDOW_SECONDS } from "../../domain/dedupe.ts";
import type { Shape } from "../../domain/task.ts";
import { IDEMPOTENCY_KEY_PATTERN } from "../../domain/task-request.ts";
import { model, oneOf } from "./field.ts";

const fields = {
  key: Type.String({
    pattern: IDEMPOTENCY_KEY_PATTERN,
    description: "1 to 255 printable ASCII characters, of the team and environment, over all queues.",
    examples: ["invoice-42"],
  }),
  mode: oneOf(DEDUPE_MODES, {
    description:
      "`first`: within the window of the first task, later requests create none. `replace`: a later request takes the " +
      "place of what a task that was not called yet said. `debounce`: the same, and the task is due `window` seconds after " +
      "the newest request.",
  }),
  window: Type.Integer({
    minimum: 1,
    maximum: LONGEST_WINDOW_SECONDS,
    description: "Seconds, at most 30 days.",
  }),
};

const longest = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: LONGEST_WINDOW_SECONDS,
    description:
      "Only with `debounce`: the longest wait in seconds after the first request. Default: 30 days.",
  }),
);

const about = "Joins different requests under one key.";

/** Of a queue task. */
export const QueueDedupe = model(
  "Dedupe",
  about,
  { ...fields, max_wait: longest },
  {
    additionalProperties: false,
    examples: [{ key: "invoice-42", mode: "debounce", window: 30, max_wait: 300 }],
  },
);

/** Of a direct task. */
export const DirectDedupe = model(
  "DirectDedupe",
  about,
  { ...fields, maxWait: longest },
  { additionalProperties: false, examples: [{ key: "invoice-42", mode: "first", window: 3600 }] },
);

export const DEDUPE_NAMES = [...Object.keys(fields), "max_wait", "maxWait"];

export type SaidDedupe = Static<typeof QueueDedupe> | Static<typeof DirectDedupe>;

/** Takes what has passed its schema. */
export function readDedupe(said: SaidDedupe): Dedupe {
  const { key, mode, window: windowSeconds } = said;
  const maxWait = "maxWait" in said ? said.maxWait : "max_wait" in said ? said.max_wait : undefined;
  return { key, mode, windowSeconds, maxWaitSeconds: maxWait ?? null };
}

export function dedupeView(
  { key, mode, windowSeconds: window, maxWaitSeconds }: Dedupe,
  shape: Shape,
): object {
  if (maxWaitSeconds === null) return { key, mode, window };
  return { key, mode, window, [shape === "queue" ? "max_wait" : "maxWait"]: maxWaitSeconds };
}
