import type { Scope } from "../../domain/identity/scope.ts";

/** Readable descriptions of scopes, for the consent page and the reference. */
export const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  "tasks:read": "See tasks, with what they sent and what came back",
  "tasks:write": "Create and delete tasks",
  "queues:read": "See queues and how busy they are",
  "queues:write": "Create, change, pause and delete queues",
  "tokens:read": "See the names of stored credentials, never their values",
  "tokens:write": "Store and revoke credentials",
  "tokens:use": "Send stored credentials along with its tasks",
  "apikeys:read": "See which API keys there are, not the keys themselves",
  "apikeys:write": "Create and revoke API keys. A key may do everything, also after the application is gone",
  "schedules:read": "See schedules",
  "schedules:write": "Create, change and delete schedules",
  "webhooks:read": "See webhooks, alerts and the secret that calls are signed with",
  "webhooks:write":
    "Create, change and delete webhooks and alerts, and replace the secret that calls are signed with",
  "team:read": "See members, invitations, applications and the audit log",
  "team:write":
    "Manage members, invitations and applications. It could let in anybody, to do whatever you may",
};
