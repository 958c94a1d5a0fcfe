import { type Static, Type } from "typebox";
import { AUDIT_ACTION_PATTERN, AUDIT_ACTOR_KINDS } from "../../domain/identity/audit-event.ts";
import { instant, model, oneOf, ref, textOrNull } from "./field.ts";

const action = {
  description: "The resource and what happened to it: `queue.created`, `task.deleted`, `api_key.revoked`.",
  examples: ["queue.created"],
};

export const AuditEvent = model("AuditEvent", "One change.", {
  id: Type.String({ examples: ["evt_01k9z3mxe5f8hrk3yv5pzq8c2d"] }),
  at: instant("When it was made."),
  actor: Type.Object({
    kind: oneOf(AUDIT_ACTOR_KINDS, {
      description: "`operator` is the person who runs this server, through the `bellhop` command.",
    }),
    id: Type.String({ examples: ["key_01k9z3mxe5f8hrk3yv5pzq8c2d"] }),
    name: Type.String({ description: "Its name at that time.", examples: ["Billing service"] }),
  }),
  action: Type.String(action),
  target: Type.String({ description: "The id or name of the changed object.", examples: ["emails"] }),
  detail: Type.Unsafe<Readonly<Record<string, unknown>> | null>({
    type: ["object", "null"],
    additionalProperties: true,
    description: "Further data, such as the changed settings; never a secret.",
  }),
  address: textOrNull("Where the request came from; null if there was none."),
  requestId: textOrNull("`X-Request-Id` of the request; null if there was none."),
});
export type AuditEvent = Static<typeof AuditEvent>;

export const AuditList = model("AuditList", "A page of the audit log, newest first.", {
  events: Type.Array(ref(AuditEvent)),
  pagination: Type.Object({
    limit: Type.Integer(),
    hasMore: Type.Boolean(),
    nextCursor: textOrNull("`cursor` of the next page; null on the last."),
  }),
});

export const AuditListQuery = Type.Object(
  {
    action: Type.Optional(
      Type.String({ pattern: AUDIT_ACTION_PATTERN, description: "Only this action, exactly." }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, default: 20, description: "Events on a page." }),
    ),
    cursor: Type.Optional(Type.String({ description: "`nextCursor` of the page before." })),
  },
  { additionalProperties: false },
);
export type AuditListQuery = Static<typeof AuditListQuery>;
