/**
 * The rights of an OAuth application. API keys and sessions have all of them. `tokens:use` allows naming a stored
 * credential in a task, without listing or storing any. `team:…` covers members, invitations, applications and the
 * audit log.
 */
export const SCOPES = [
  "tasks:read",
  "tasks:write",
  "queues:read",
  "queues:write",
  "tokens:read",
  "tokens:write",
  "tokens:use",
  "apikeys:read",
  "apikeys:write",
  "schedules:read",
  "schedules:write",
  "webhooks:read",
  "webhooks:write",
  "team:read",
  "team:write",
] as const;
export type Scope = (typeof SCOPES)[number];

export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text);
}
