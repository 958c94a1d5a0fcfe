import { type Static, Type } from "typebox";
import { instant, model, ref } from "./field.ts";
import { pagination } from "./page.ts";

/** Together with the other headers of a call it must stay below what common servers accept. */
export const LONGEST_VALUE = 8192;
export const MOST_ALLOWED_HOSTS = 50;

const fields = {
  id: Type.String({
    description: "Use this id in the headers of a task.",
    examples: ["tok_01k9z3mxe5f8hrk3yv5pzq8c2d"],
  }),
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    description: "A label, for people; need not be unique.",
    examples: ["Replicate, production"],
  }),
  allowedHosts: Type.Array(Type.String(), {
    description:
      `The hosts that the token may be sent to, 1 to ${MOST_ALLOWED_HOSTS}: \`api.example.com\`, \`api.example.com:8443\`, ` +
      "`*.example.com` (every name below it). Without a port every port is meant. Left out: any host.",
    examples: [["api.replicate.com"]],
  }),
};

const lastUsedAt = Type.Unsafe<string | null>({
  type: ["string", "null"],
  format: "date-time",
  description:
    "When the token was last used in a call, known within about a minute; null if no use is known.",
});

/** `allowedHosts` is checked by hand before the schema is: ajv would list every wrong entry of a long list. */
export const CreateToken = model(
  "CreateToken",
  "A credential to keep.",
  {
    name: fields.name,
    value: Type.String({
      minLength: 1,
      maxLength: LONGEST_VALUE,
      description:
        "The whole value of a header, such as `Bearer r8_…`. Stored encrypted, used in calls, never returned.",
      examples: ["Bearer r8_example"],
    }),
    allowedHosts: Type.Optional(fields.allowedHosts),
  },
  {
    additionalProperties: false,
    examples: [
      { name: "Replicate, production", value: "Bearer r8_example", allowedHosts: ["api.replicate.com"] },
    ],
  },
);

export const Token = model("Token", "A stored credential, without its value.", {
  id: fields.id,
  name: fields.name,
  allowedHosts: Type.Optional(fields.allowedHosts),
  createdAt: instant("When the token was stored."),
  lastUsedAt,
});
export type Token = Static<typeof Token>;

export const TokenDetail = model("TokenDetail", "A stored credential, and how many tasks wait to use it.", {
  ...Token.properties,
  openTasks: Type.Object(
    {
      count: Type.Integer({ description: "The number of tasks found.", examples: [12] }),
      isCapped: Type.Boolean({
        description: "More than the 10,000 scanned open tasks exist: `count` is a lower bound.",
        examples: [false],
      }),
    },
    {
      description:
        "Open tasks that name the token in a header: pending, active, waiting or polling. After a revocation, each" +
        " of them fails at its next call. For a sandbox token these are sandbox tasks.",
    },
  ),
});

export const TokenDetailAnswer = model("TokenDetailAnswer", "The token.", { token: ref(TokenDetail) });

export const TokenAnswer = model("TokenAnswer", "The token.", { token: ref(Token) });

export const TokenList = model("TokenList", "The active tokens of the team, newest first.", {
  tokens: Type.Array(ref(Token)),
  pagination,
});

export const RevokedToken = model("RevokedToken", "The token is revoked and its value is gone.", {
  token: Type.Object({
    id: fields.id,
    name: fields.name,
    revokedAt: instant("When the token was revoked."),
  }),
});

export const TokenPath = Type.Object({ tokenId: fields.id });
