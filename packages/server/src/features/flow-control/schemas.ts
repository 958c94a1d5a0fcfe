import { type Static, Type } from "typebox";
import { integerOrNull, model, oneOf, ref, textOrNull } from "../../api/schemas/field.ts";
import { figures, ordered } from "../../api/schemas/flow.ts";
import { PageQuery, pagination } from "../../api/schemas/page.ts";
import { FLOW_LIMITS } from "../../domain/flow.ts";
import { HOLDS } from "../../domain/gate/gate.ts";
import { ON_FAILURE } from "../../domain/queue.ts";

export const PutFlow = model(
  "PutFlow",
  "The limits to store for a key. They replace what was stored, and win over what tasks carry, figure by figure.",
  {
    ...figures,
    ordered,
    on_failure: Type.Optional(
      oneOf(ON_FAILURE, {
        description:
          "Of an ordered flow: whether its line goes on after a failed task, or stops until that task is retried and " +
          "completes, or is dismissed. Default: `continue`.",
      }),
    ),
    pause_on_retry_after: Type.Optional(
      Type.Boolean({
        description:
          "Whether a 429 or 503 with `Retry-After` pauses the whole flow. Default: only for `host:` and `token:` keys.",
      }),
    ),
    hold: Type.Optional(
      oneOf(HOLDS, {
        description:
          "`call`: a place is held during the call. `task`: until the task has ended. Default: `call`.",
      }),
    ),
    max_waiting: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: FLOW_LIMITS.maxWaiting,
        description: "While so many tasks wait, further ones are refused with 429 `flow_backlog_full`.",
      }),
    ),
  },
  { additionalProperties: false, examples: [{ concurrency: 5, rate: 100, period: 60 }] },
);
export type PutFlow = Static<typeof PutFlow>;

const source = (description: string) =>
  Type.Unsafe<"stored" | "task" | null>({
    type: ["string", "null"],
    enum: ["stored", "task", null],
    description,
  });

export const Flow = model("Flow", "A flow, the limits that hold, and what it is doing.", {
  key: Type.String({ examples: ["customer-42"] }),
  concurrency: integerOrNull("Calls at once; null: no limit."),
  rate: integerOrNull("Calls begun per period; null: no limit."),
  period: integerOrNull("Seconds; null without a rate."),
  ordered: Type.Boolean({ description: "Whether its tasks start one at a time, in the order of creation." }),
  on_failure: oneOf(ON_FAILURE, { description: "What becomes of an ordered flow's line when a task fails." }),
  pause_on_retry_after: Type.Boolean({ description: "Whether `Retry-After` pauses the flow." }),
  hold: oneOf(HOLDS, { description: "What holds a place." }),
  max_waiting: integerOrNull("The most tasks that may wait; null: no limit."),
  source: Type.Object(
    {
      concurrency: source("Of the concurrency."),
      rate: source("Of rate and period."),
      ordered: source("Of the order."),
    },
    { description: "Where each limit comes from: stored, or carried by the newest task that had it." },
  ),
  paused: Type.Boolean({ description: "No call begins." }),
  paused_until: textOrNull("When a pause by `Retry-After` ends."),
  active: Type.Integer({ description: "Places in use." }),
  waiting: Type.Integer({ description: "Due tasks that wait, counted to 10,000." }),
  begun_in_period: Type.Integer({ description: "Calls begun in the last period; 0 without a rate." }),
});

export const FlowAnswer = model("FlowAnswer", "A flow.", { flow: ref(Flow) });
export const FlowList = model("FlowList", "Flows, the busiest first.", {
  flows: Type.Array(ref(Flow)),
  pagination,
});
export const DeletedFlow = model("DeletedFlow", "What was stored for the key is removed.", {
  key: Type.String(),
  deleted: Type.Boolean(),
});

export const FlowListQuery = Type.Object(
  {
    ...PageQuery.properties,
    search: Type.Optional(Type.String({ maxLength: 128, description: "Only keys that contain this text." })),
  },
  { additionalProperties: false },
);

export const FlowPath = Type.Object({ key: Type.String({ examples: ["customer-42"] }) });
