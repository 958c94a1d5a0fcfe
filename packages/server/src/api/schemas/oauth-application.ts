import { type Static, Type } from "typebox";
import {
  DEFAULT_GRANT_TYPES,
  GRANT_TYPES,
  MOST_APPLICATIONS,
} from "../../domain/identity/oauth-application.ts";
import { LONGEST_REDIRECT_URI, MOST_REDIRECT_URIS } from "../../domain/identity/redirect-uri.ts";
import { SCOPES } from "../../domain/identity/scope.ts";
import { instant, model, ref } from "./field.ts";
import { pagination } from "./page.ts";

const EXAMPLE = {
  name: "Nightly reports",
  redirectUris: ["https://reports.example.com/callback"],
  scopes: ["tasks:read", "tasks:write"],
  grantTypes: [...DEFAULT_GRANT_TYPES],
};

const fields = {
  clientId: Type.String({ examples: ["app_01k9z3mxe5f8hrk3yv5pzq8c2d"] }),
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    description: "The name shown on the consent page.",
    examples: [EXAMPLE.name],
  }),
  // The lists are checked by hand before the schema is: ajv would list every wrong entry of a long list.
  redirectUris: Type.Array(Type.String(), {
    description:
      `Where people are sent back to, 1 to ${MOST_REDIRECT_URIS} of at most ${LONGEST_REDIRECT_URI} characters, each ` +
      "compared letter by letter: https; http on 127.0.0.1 or [::1] (whatever the port) or localhost; or a scheme of " +
      "the application's own with a dot, such as `com.example.app:/callback`. Not needed without `authorization_code`.",
    examples: [EXAMPLE.redirectUris],
  }),
  scopes: Type.Array(Type.String(), {
    description: `The most that it can be granted, at least one of: ${SCOPES.map((scope) => `\`${scope}\``).join(", ")}.`,
    examples: [EXAMPLE.scopes],
  }),
  grantTypes: Type.Array(Type.String(), {
    default: [...DEFAULT_GRANT_TYPES],
    description:
      `How it gets tokens: ${GRANT_TYPES.map((type) => `\`${type}\``).join(", ")}. \`refresh_token\` goes with ` +
      "`authorization_code`. With `client_credentials` it acts on its own, as an admin of the team it belongs to.",
  }),
  createdAt: instant("When the application was registered."),
};

export const CreateApplication = model(
  "CreateApplication",
  `An application to register. A team can have ${MOST_APPLICATIONS}.`,
  {
    name: fields.name,
    redirectUris: Type.Optional(fields.redirectUris),
    scopes: fields.scopes,
    grantTypes: Type.Optional(fields.grantTypes),
  },
  { additionalProperties: false, examples: [EXAMPLE] },
);
export type CreateApplication = Static<typeof CreateApplication>;

export const Application = model("Application", "An OAuth application, without its secret.", fields);
export type Application = Static<typeof Application>;

export const MintedApplication = model(
  "MintedApplication",
  "The application with its secret, which is shown here and nowhere else.",
  {
    application: Type.Object({
      ...fields,
      clientSecret: Type.String({
        description: "The application's secret. Store it: it is not shown again.",
        examples: ["bhs_3f9a…"],
      }),
    }),
  },
);

export const ApplicationList = model("ApplicationList", "The applications of the team, newest first.", {
  applications: Type.Array(ref(Application)),
  pagination,
});

export const DeletedApplication = model(
  "DeletedApplication",
  "The application is gone, and its tokens are refused from now on.",
  {
    application: Type.Object({
      clientId: fields.clientId,
      name: fields.name,
      deletedAt: instant("When the application was deleted."),
    }),
  },
);

export const ApplicationPath = Type.Object({ clientId: fields.clientId });
