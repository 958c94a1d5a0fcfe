import type { FastifyContextConfig } from "fastify";
import type { Principal } from "../../domain/identity/principal.ts";
import { requireScope } from "../../domain/identity/principal.ts";
import { isAtLeast, type Role } from "../../domain/identity/role.ts";
import type { Scope } from "../../domain/identity/scope.ts";
import { Problem } from "../../domain/problem.ts";

/**
 * The access rule of a route. Every authenticated route declares it in its `config`; the server does not start without
 * it.
 */
export interface Access {
  /** The required scope of an OAuth application; `any`: every credential; `session`: people only. */
  readonly scope: Scope | "any" | "session";
  readonly role: Role;
  /** Test keys may use it although it changes data outside of the sandbox. */
  readonly testKeys?: true;
  /** Test keys may not even read it. */
  readonly liveOnly?: true;
}

declare module "fastify" {
  interface FastifyContextConfig {
    access?: Access;
  }
}

/** A read scope requires a viewer, any other a member or the given role. */
export function access(scope: Access["scope"], role: Role = defaultRole(scope)): FastifyContextConfig {
  return { access: { scope, role } };
}

/** The same, for test keys too. */
export function accessForTestKeys(scope: Access["scope"]): FastifyContextConfig {
  return { access: { scope, role: defaultRole(scope), testKeys: true } };
}

/** Not for test keys, whatever the scope. */
export function accessForLiveKeys(scope: Access["scope"]): FastifyContextConfig {
  return { access: { scope, role: defaultRole(scope), liveOnly: true } };
}

function defaultRole(scope: Access["scope"]): Role {
  return scope.endsWith(":write") ? "member" : "viewer";
}

/** Whether this route may revoke a credential or change its rights. */
export function mayEndCredentials({ scope, role }: Access): boolean {
  return role === "admin" || scope === "session" || scope === "team:write";
}

/** Scopes of changes in the sandbox. Checked before the role: the rest of the team is out of reach for a test key. */
const SANDBOX_SCOPES: readonly Access["scope"][] = ["tasks:write", "schedules:write", "tokens:write"];

export function requireAccess(principal: Principal, { scope, role, testKeys, liveOnly }: Access): void {
  const isChange = scope.endsWith(":write") && !SANDBOX_SCOPES.includes(scope);
  const isOutside = liveOnly === true || (isChange && testKeys !== true);
  if (principal.environment === "test" && isOutside) throw new Problem("test_key_refused");
  if (scope === "session") {
    if (principal.kind !== "session") throw new Problem("session_required");
  } else if (scope !== "any") requireScope(principal, scope);
  if (!isAtLeast(principal.role, role)) throw new Problem("role_missing", { role });
}
