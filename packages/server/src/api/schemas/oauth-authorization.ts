import { type Static, Type } from "typebox";
import { SCOPES } from "../../domain/identity/scope.ts";
import { instant, model, oneOf, ref } from "./field.ts";
import { personFields } from "./member.ts";
import { pagination } from "./page.ts";

const id = Type.String({
  description: "Identifies one consent of a person, with all its tokens.",
  examples: ["auth_01k9z3mxe5f8hrk3yv5pzq8c2d"],
});

export const Authorization = model(
  "Authorization",
  "What a person allowed an application to do in the team.",
  {
    id,
    application: Type.Object({
      clientId: Type.String({ examples: ["app_01k9z3mxe5f8hrk3yv5pzq8c2d"] }),
      name: Type.String({ examples: ["Nightly reports"] }),
      team: Type.String({
        description: "The name of the team that the application belongs to.",
        examples: ["Difference Ltd"],
      }),
    }),
    user: Type.Object(personFields, { description: "The person who granted it." }),
    scopes: Type.Array(oneOf(SCOPES), { description: "The granted scopes." }),
    createdAt: instant("When the person allowed it."),
    expiresAt: instant("When it ends by itself, unless the application refreshes it before."),
  },
);
export type Authorization = Static<typeof Authorization>;

export const AuthorizationList = model(
  "AuthorizationList",
  "What applications have been allowed and may still do, newest first.",
  { authorizations: Type.Array(ref(Authorization)), pagination },
);

export const EndedAuthorization = model(
  "EndedAuthorization",
  "The application may do nothing of it any more.",
  { authorization: Type.Object({ id, endedAt: instant("When it was ended.") }) },
);

export const AuthorizationPath = Type.Object({ authorization_id: id });
