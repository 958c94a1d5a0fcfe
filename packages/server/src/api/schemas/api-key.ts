import { type Static, Type } from "typebox";
import { MOST_ACTIVE_KEYS } from "../../domain/identity/api-key.ts";
import { instant, model, oneOf, ref } from "./field.ts";
import { pagination } from "./page.ts";

const ENVIRONMENTS = ["live", "test"] as const;

const fields = {
  id: Type.String({ examples: ["key_01k9z3mxe5f8hrk3yv5pzq8c2d"] }),
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    description: "A label, for people; need not be unique.",
    examples: ["Billing service"],
  }),
  environment: oneOf(ENVIRONMENTS, {
    default: "live",
    description: "Tasks of a `test` key are sandbox tasks: they are never called.",
  }),
  prefix: Type.String({
    description: "The beginning of the key, to identify it.",
    examples: ["bh_live_3f9a"],
  }),
  createdAt: instant("When the key was made."),
};

export const CreateApiKey = model(
  "CreateApiKey",
  `A key to make. A team can have ${MOST_ACTIVE_KEYS} active ones.`,
  { name: fields.name, environment: Type.Optional(fields.environment) },
  { additionalProperties: false, examples: [{ name: "Billing service", environment: "live" }] },
);

export const ApiKey = model("ApiKey", "An API key, without the key itself.", {
  ...fields,
  lastUsedAt: Type.Unsafe<string | null>({
    type: ["string", "null"],
    format: "date-time",
    description: "When the key was last used, to the minute; null if never.",
  }),
});
export type ApiKey = Static<typeof ApiKey>;

export const CreatedApiKey = model("CreatedApiKey", "The new key. It is shown here and nowhere else.", {
  apiKey: Type.Object({
    ...fields,
    key: Type.String({
      description:
        "The key: send it as `Authorization: Bearer …` or `X-API-Key`. Store it: it is not shown again.",
      examples: ["bh_live_3f9a…"],
    }),
  }),
});

export const ApiKeyList = model("ApiKeyList", "The active keys of the team, newest first.", {
  apiKeys: Type.Array(ref(ApiKey)),
  pagination,
});

export const RevokedApiKey = model("RevokedApiKey", "The key is refused from now on.", {
  apiKey: Type.Object({
    id: fields.id,
    name: fields.name,
    revokedAt: instant("When the key was revoked."),
  }),
});

export const ApiKeyPath = Type.Object({ key_id: fields.id });
