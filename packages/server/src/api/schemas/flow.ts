import { Type } from "typebox";
import { FLOW_LIMITS } from "../../domain/flow.ts";
import { model, ref } from "./field.ts";

const figure = (maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum, description }));

export const figures = {
  concurrency: figure(FLOW_LIMITS.concurrency, "Calls at once, over all queues and nodes."),
  rate: figure(FLOW_LIMITS.rate, "Calls begun per period, over all queues and nodes."),
  period: figure(FLOW_LIMITS.periodSeconds, "Seconds. Default: 1. Only with `rate`."),
};

export const ordered = Type.Optional(
  Type.Boolean({
    description:
      "Its tasks start one at a time, in the order of creation, each when the one before has ended. `concurrency` is 1 then.",
  }),
);

const aboutKey =
  "1 to 128 characters of `A-Z a-z 0-9 . _ : @ -`; or `$host`, for the host of the call; or `$token`, for its vault token.";

export const FlowOfTask = model(
  "FlowOfTask",
  "A flow, with limits that hold unless others are stored for its key.",
  { key: Type.String({ description: aboutKey, examples: ["customer-42"] }), ...figures, ordered },
  { additionalProperties: false, examples: [{ key: "customer-42", concurrency: 2 }] },
);

export const AskedFlow = Type.Union([Type.String(), ref(FlowOfTask)], {
  description: `The flow that limits the task: its key, or its key with limits. A key has ${aboutKey}`,
  examples: ["customer-42"],
});
