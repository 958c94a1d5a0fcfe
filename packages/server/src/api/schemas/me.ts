import { type Static, Type } from "typebox";
import { SCOPES } from "../../domain/identity/scope.ts";
import { LIMIT_NAMES } from "../../domain/limits.ts";
import { integerOrNull, model, oneOf } from "./field.ts";
import { personFields } from "./member.ts";
import { role, teamFields } from "./team.ts";

/** A bound from above with what is used of it, or one from below. */
interface Limit {
  max?: number | null;
  used?: number | null;
  min?: number | null;
}

export const Me = model("Me", "Whom the credential speaks for, and what it may do.", {
  kind: oneOf(["api_key", "session", "application"], { description: "The kind of credential." }),
  id: Type.String({
    description: "Identifies the API key, the person or the application.",
    examples: ["key_01k9z3mxe5f8hrk3yv5pzq8c2d"],
  }),
  name: Type.String({ description: "Its name; for a person the address.", examples: ["Production"] }),
  environment: oneOf(["live", "test"], {
    description: "`test`: tasks are accepted and never executed.",
  }),
  role,
  scopes: Type.Array(oneOf(SCOPES), { description: "Its scopes, limited by its role." }),
  team: Type.Object(teamFields),
  user: Type.Unsafe<{ id: string; email: string } | null>({
    anyOf: [Type.Object(personFields), { type: "null" }],
    description:
      "The person who signed in or granted access; null if there is none, and for an application without " +
      "`team:read`.",
  }),
  limits: Type.Unsafe<Record<string, Limit>>({
    type: "object",
    description:
      "What the team's plan bounds, by name: `requestsPerMinute`, " +
      `${LIMIT_NAMES.map((name) => `\`${name}\``).join(", ")}.`,
    additionalProperties: Type.Object({
      max: Type.Optional(integerOrNull("The most there may be; null is no limit.")),
      used: Type.Optional(integerOrNull("How many there are; null where they are not counted.")),
      min: Type.Optional(
        integerOrNull("The least that a value may be, where the bound is from below; null is none."),
      ),
    }),
  }),
});
export type Me = Static<typeof Me>;
