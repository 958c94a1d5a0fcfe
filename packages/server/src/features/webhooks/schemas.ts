import { type Static, Type } from "typebox";
import { instant, integerOrNull, model, oneOf, orNull, ref, textOrNull } from "../../api/schemas/field.ts";
import { pagination } from "../../api/schemas/page.ts";
import { CALL_LIMITS } from "../../domain/call.ts";
import { DELIVERY_STATUSES } from "../../domain/delivery.ts";
import { EVENT_TYPES } from "../../domain/event.ts";
import { QUEUE_READ_PATTERN } from "../../domain/queue.ts";
import { LABEL_LIMITS } from "../../domain/tag-rules.ts";
import { TEST_EVENT, WEBHOOK_PATIENCE_DAYS } from "../../domain/webhook.ts";

const EXAMPLE = {
  id: "wh_01k9z3mxe5f8hrk3yv5pzq8c2d",
  url: "https://example.com/hooks/bellhop",
  events: ["task.completed", "task.failed"],
  queue: "emails",
  tag: null,
  enabled: true,
  disabled_at: null,
  failing_since: null,
  created_at: "2026-03-01T09:30:00.000Z",
  updated_at: "2026-03-01T09:30:00.000Z",
};

const terms = {
  url: Type.String({
    description: `Where to send events: an absolute http or https URL without credentials, at most ${CALL_LIMITS.url} characters.`,
    examples: [EXAMPLE.url],
  }),
  events: Type.Array(oneOf(EVENT_TYPES), {
    minItems: 1,
    maxItems: EVENT_TYPES.length,
    uniqueItems: true,
    description: "The kinds of events.",
    examples: [EXAMPLE.events],
  }),
  queue: Type.String({
    pattern: QUEUE_READ_PATTERN,
    description: "Only events of this queue and its tasks.",
    examples: [EXAMPLE.queue],
  }),
  tag: Type.String({
    minLength: 1,
    maxLength: LABEL_LIMITS.tag,
    description: "Only events of tasks that have this tag.",
    examples: ["signup"],
  }),
  enabled: Type.Boolean({
    default: true,
    description: "False: no event is sent, and none is kept for later.",
  }),
};

export const CreateWebhook = model(
  "CreateWebhook",
  "Where a team wants to be told of what happens.",
  {
    url: terms.url,
    events: terms.events,
    queue: Type.Optional(terms.queue),
    tag: Type.Optional(terms.tag),
    enabled: Type.Optional(terms.enabled),
  },
  { additionalProperties: false, examples: [{ url: EXAMPLE.url, events: EXAMPLE.events, queue: "emails" }] },
);

export const UpdateWebhook = model(
  "UpdateWebhook",
  "What is not given stays as it is.",
  {
    url: Type.Optional(terms.url),
    events: Type.Optional(terms.events),
    queue: Type.Optional(orNull(terms.queue, "Only events of this queue and its tasks; null for all.")),
    tag: Type.Optional(orNull(terms.tag, "Only events of tasks that have this tag; null for all.")),
    enabled: Type.Optional(
      Type.Boolean({ description: "True also enables a disabled webhook and resets its failure time." }),
    ),
  },
  { additionalProperties: false, examples: [{ enabled: true }] },
);
export type UpdateWebhook = Static<typeof UpdateWebhook>;

const Webhook = model("Webhook", "A subscription to events.", {
  id: Type.String({ examples: [EXAMPLE.id] }),
  url: terms.url,
  events: terms.events,
  queue: textOrNull("Only events of this queue; null for all."),
  tag: textOrNull("Only events of tasks that have this tag; null for all."),
  enabled: Type.Boolean({ description: "Whether events are sent." }),
  disabled_at: Type.Unsafe<string | null>({
    type: ["string", "null"],
    format: "date-time",
    description: `When Bellhop turned it off, after ${WEBHOOK_PATIENCE_DAYS} days without a success; null if it did not.`,
  }),
  failing_since: Type.Unsafe<string | null>({
    type: ["string", "null"],
    format: "date-time",
    description: "When deliveries began to fail; null while they succeed.",
  }),
  created_at: instant("When it was created."),
  updated_at: instant("When it was last changed."),
});
export type Webhook = Static<typeof Webhook>;

export const WebhookAnswer = model(
  "WebhookAnswer",
  "A subscription to events.",
  { webhook: ref(Webhook) },
  { examples: [{ webhook: EXAMPLE }] },
);

export const WebhookList = model(
  "WebhookList",
  "The team's subscriptions, newest first.",
  { webhooks: Type.Array(ref(Webhook)), pagination },
  { examples: [{ webhooks: [EXAMPLE] }] },
);

export const DeletedWebhook = model(
  "DeletedWebhook",
  "The subscription that is gone.",
  { webhook: Type.Object({ id: Type.String({ examples: [EXAMPLE.id] }), deleted: Type.Boolean() }) },
  { examples: [{ webhook: { id: EXAMPLE.id, deleted: true } }] },
);

const Delivery = model("WebhookDelivery", "One event on its way to a webhook.", {
  id: Type.String({
    examples: ["whd_01k9z3mxe5f8hrk3yv5pzq8c2d"],
  }),
  message_id: Type.String({
    description: "Sent as `webhook-id`, the same on every try: the id of the first delivery of the message.",
    examples: ["whd_01k9z3mxe5f8hrk3yv5pzq8c2d"],
  }),
  event: oneOf([...EVENT_TYPES, TEST_EVENT], { description: "The kind of event." }),
  status: oneOf(DELIVERY_STATUSES, { description: "`pending` until it is delivered or given up." }),
  attempts: Type.Integer({ description: "The number of tries." }),
  response_code: integerOrNull("What the last try was answered; null if nothing."),
  error: textOrNull("Why the last try failed; null if it did not."),
  created_at: instant("When it was noticed."),
  next_at: Type.Unsafe<string | null>({
    type: ["string", "null"],
    format: "date-time",
    description: "When the next try is due; null if there is none.",
  }),
});
export type Delivery = Static<typeof Delivery>;

export const DeliveryAnswer = model("WebhookDeliveryAnswer", "A message on its way to a webhook.", {
  delivery: ref(Delivery),
});

export const DeliveryPath = Type.Object({
  webhook_id: Type.String({ examples: [EXAMPLE.id] }),
  delivery_id: Type.String({ examples: ["whd_01k9z3mxe5f8hrk3yv5pzq8c2d"] }),
});

export const DeliveryList = model(
  "WebhookDeliveryList",
  "What was sent to a webhook, newest first.",
  { deliveries: Type.Array(ref(Delivery)), pagination },
  {
    examples: [
      {
        deliveries: [
          {
            id: "whd_01k9z3mxe5f8hrk3yv5pzq8c2d",
            message_id: "whd_01k9z3mxe5f8hrk3yv5pzq8c2d",
            event: "task.completed",
            status: "delivered",
            attempts: 1,
            response_code: 204,
            error: null,
            created_at: "2026-03-01T09:30:00.000Z",
            next_at: null,
          },
        ],
      },
    ],
  },
);

export const WebhookPath = Type.Object({ webhook_id: Type.String({ examples: [EXAMPLE.id] }) });
