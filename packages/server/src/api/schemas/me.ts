import { type Static, Type } from "typebox";
import { SCOPES } from "../../domain/identity/scope.ts";
import { integerOrNull, model, oneOf } from "./field.ts";
import { personFields } from "./member.ts";
import { role, teamFields } from "./team.ts";

export const Me = model("Me", "Whom the credential speaks for, and what it may do.", {
  kind: oneOf(["api_key", "session", "application"], { description: "What kind of credential was sent." }),
  id: Type.String({
    description: "Identifies the API key, the person or the application.",
    examples: ["key_01k9z3mxe5f8hrk3yv5pzq8c2d"],
  }),
  name: Type.String({ description: "What people call it; a person's address.", examples: ["Production"] }),
  environment: oneOf(["live", "test"], {
    description: "`test`: tasks are accepted and never executed.",
  }),
  role,
  scopes: Type.Array(oneOf(SCOPES), { description: "What it may be used for, as far as its role reaches." }),
  team: Type.Object(teamFields),
  user: Type.Unsafe<{ id: string; email: string } | null>({
    anyOf: [Type.Object(personFields), { type: "null" }],
    description:
      "The person who signed in, or who let the application in; null if there is none, and for an application without " +
      "`team:read`.",
  }),
  limits: Type.Object({
    requestsPerMinute: integerOrNull("How many requests a minute the team may make; null is no limit."),
  }),
});
export type Me = Static<typeof Me>;
