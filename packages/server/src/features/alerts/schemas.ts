import { type Static, Type } from "typebox";
import { instant, model, oneOf, ref, textOrNull } from "../../api/schemas/field.ts";
import { pagination } from "../../api/schemas/page.ts";
import { CALL_LIMITS } from "../../domain/call.ts";
import { QUEUE_NAME_PATTERN } from "../../domain/queue.ts";
import {
  ALERT_KINDS,
  ALERT_STATES,
  FOR,
  LEAST_ENDED,
  LONGEST_NAME,
  MOST_CHANNELS,
  WITHIN,
} from "./domain.ts";

const WHEN = { kind: "failure_rate", queue: "emails", threshold: 10, within: 300, for: 0 };
const EXAMPLE = {
  id: "alr_01k9z3mxe5f8hrk3yv5pzq8c2d",
  name: "Mails fail",
  when: WHEN,
  notify: [{ email: "ada@example.com", last_error: null, last_sent_at: null }],
  enabled: true,
  state: "ok",
  value: 1.5,
  since: null,
  last_fired_at: null,
  created_at: "2026-03-01T09:30:00.000Z",
  updated_at: "2026-03-01T09:30:00.000Z",
};

const KINDS_TEXT =
  "`failure_rate`: percent of the tasks that ended within the last `within` seconds and failed, if at least " +
  `${LEAST_ENDED} ended. \`oldest_pending\`: seconds since the oldest due task became due. \`depth\`: due and pending ` +
  "tasks. `breaker_open`: open circuit breakers. `webhook_disabled`: webhooks that Bellhop disabled. `schedule_failing`: firings of one schedule in a row that " +
  "failed. `storage`: percent of the plan's storage; for the operator's team, of the disk.";

const orNothing = (type: "string" | "integer" | "number", description: string, rules: object = {}) =>
  ({ type: [type, "null"], description, ...rules }) as const;

const when = Type.Object(
  {
    kind: oneOf(ALERT_KINDS, { description: KINDS_TEXT }),
    queue: Type.Optional(
      Type.Unsafe<string | null>(
        orNothing("string", "Only this queue; absent: all queues of the team. Not for every kind.", {
          pattern: QUEUE_NAME_PATTERN,
        }),
      ),
    ),
    threshold: Type.Optional(
      Type.Unsafe<number | null>(
        orNothing(
          "number",
          "The alert fires at this figure or above. Not for `breaker_open` and `webhook_disabled`.",
        ),
      ),
    ),
    within: Type.Optional(
      Type.Unsafe<number | null>(
        orNothing("integer", "Seconds, for `failure_rate`.", {
          minimum: WITHIN.least,
          maximum: WITHIN.most,
          default: WITHIN.default,
        }),
      ),
    ),
    for: Type.Optional(
      Type.Unsafe<number | null>(
        orNothing("integer", "Seconds for which the condition must hold before the alert fires.", {
          minimum: 0,
          maximum: FOR.most,
          default: FOR.default,
        }),
      ),
    ),
  },
  { additionalProperties: false, description: "The condition.", examples: [WHEN] },
);

const target = (description: string) =>
  Type.Optional(Type.Unsafe<string | null>(orNothing("string", description, { maxLength: CALL_LIMITS.url })));
const channel = {
  email: target("The address of a member of the team."),
  url: target("Receives the message as JSON, signed by the rules of Standard Webhooks."),
  slack_url: target(
    "A Slack-compatible URL, which receives `{ text }`. It is encrypted, and shown without its end; the shown form " +
      "keeps the stored URL in a change.",
  ),
};
const notify = Type.Array(Type.Object(channel, { additionalProperties: false }), {
  minItems: 1,
  maxItems: MOST_CHANNELS,
  description: "Who is notified: in each entry one of `email`, `url` and `slack_url`.",
  examples: [[{ email: "ada@example.com" }]],
});
const name = Type.String({
  minLength: 1,
  maxLength: LONGEST_NAME,
  description: "Named in every message.",
  examples: [EXAMPLE.name],
});
const enabled = Type.Boolean({
  default: true,
  description: "False: the alert is not evaluated, and its state is `ok`.",
});

export const CreateAlert = model(
  "CreateAlert",
  "A condition, and who is notified when it holds.",
  { name, when, notify, enabled: Type.Optional(enabled) },
  {
    additionalProperties: false,
    examples: [{ name: EXAMPLE.name, when: WHEN, notify: [{ email: "ada@example.com" }] }],
  },
);

export const UpdateAlert = model(
  "UpdateAlert",
  "Fields that are not given stay as they are. `when` and `notify` are replaced as a whole.",
  {
    name: Type.Optional(name),
    when: Type.Optional(when),
    notify: Type.Optional(notify),
    enabled: Type.Optional(Type.Boolean({ description: "False also sets the state to `ok`." })),
  },
  { additionalProperties: false, examples: [{ enabled: false }] },
);

const instantOrNull = (description: string) =>
  Type.Unsafe<string | null>({ type: ["string", "null"], format: "date-time", description });
const numberOrNull = (description: string) =>
  Type.Unsafe<number | null>({ type: ["number", "null"], description });

const Alert = model("Alert", "A condition that is evaluated once a minute.", {
  id: Type.String({ examples: [EXAMPLE.id] }),
  name,
  when: Type.Object(
    {
      kind: oneOf(ALERT_KINDS, { description: KINDS_TEXT }),
      queue: textOrNull("Null: all queues, or the kind has none."),
      threshold: numberOrNull("Null if the kind has none."),
      within: numberOrNull("Seconds; null if the kind has none."),
      for: Type.Integer({ description: "Seconds." }),
    },
    { description: "The condition, with its defaults.", examples: [WHEN] },
  ),
  notify: Type.Array(
    Type.Object({
      email: Type.Optional(Type.String()),
      url: Type.Optional(Type.String()),
      slack_url: Type.Optional(Type.String({ description: "Without its end." })),
      last_error: textOrNull("Why the last message was not delivered yet; null if it was."),
      last_sent_at: instantOrNull("When the last message was delivered; null if none was."),
    }),
    { description: "Who is notified, and whether the last message was delivered." },
  ),
  enabled: Type.Boolean(),
  state: oneOf(ALERT_STATES, { description: "Of the last evaluation." }),
  value: numberOrNull("The figure of the last evaluation; null if there is none."),
  since: instantOrNull("Since when the condition holds; null if it does not."),
  last_fired_at: instantOrNull("When it last began to fire; null if it never did."),
  created_at: instant("When it was created."),
  updated_at: instant("When its fields were last changed."),
});
export type Alert = Static<typeof Alert>;

export const AlertAnswer = model(
  "AlertAnswer",
  "An alert.",
  { alert: ref(Alert) },
  { examples: [{ alert: EXAMPLE }] },
);

export const AlertList = model(
  "AlertList",
  "The team's alerts, newest first.",
  { alerts: Type.Array(ref(Alert)), pagination },
  { examples: [{ alerts: [EXAMPLE] }] },
);

export const DeletedAlert = model(
  "DeletedAlert",
  "The deleted alert.",
  { alert: Type.Object({ id: Type.String({ examples: [EXAMPLE.id] }), deleted: Type.Boolean() }) },
  { examples: [{ alert: { id: EXAMPLE.id, deleted: true } }] },
);

export const AlertPath = Type.Object({ alert_id: Type.String({ examples: [EXAMPLE.id] }) });
