import type { FastifyContextConfig } from "fastify";
import type { Principal } from "../../domain/identity/principal.ts";
import { requireScope } from "../../domain/identity/principal.ts";
import { isAtLeast, type Role } from "../../domain/identity/role.ts";
import type { Scope } from "../../domain/identity/scope.ts";
import { Problem } from "../../domain/problem.ts";

/** Who may use a route. Every authenticated route declares it in its `config`; one that does not stops the start. */
export interface Access {
  /** What an OAuth application must have been granted; `any`: every credential will do; `session`: people only. */
  readonly scope: Scope | "any" | "session";
  readonly role: Role;
  /** A test key may use it although it changes something outside of the sandbox. */
  readonly testKeys?: true;
}

declare module "fastify" {
  interface FastifyContextConfig {
    access?: Access;
  }
}

/** A scope to read is enough for a viewer; one to change something asks for a member, or for whom the route names. */
export function access(scope: Access["scope"], role: Role = defaultRole(scope)): FastifyContextConfig {
  return { access: { scope, role } };
}

/** The same, for test keys too. */
export function accessForTestKeys(scope: Access["scope"]): FastifyContextConfig {
  return { access: { scope, role: defaultRole(scope), testKeys: true } };
}

function defaultRole(scope: Access["scope"]): Role {
  return scope.endsWith(":write") ? "member" : "viewer";
}

/** Whether a change by this route may end what somebody calls with, or change what it may do. */
export function mayEndCredentials({ scope, role }: Access): boolean {
  return role === "admin" || scope === "session" || scope === "team:write";
}

/** What a test key changes in the sandbox. Asked before its role: whatever that is, the rest of its team is out of reach. */
const SANDBOX_SCOPES: readonly Access["scope"][] = ["tasks:write", "schedules:write", "tokens:write"];

export function requireAccess(principal: Principal, { scope, role, testKeys }: Access): void {
  const isOutside = scope.endsWith(":write") && !SANDBOX_SCOPES.includes(scope) && testKeys !== true;
  if (principal.environment === "test" && isOutside) throw new Problem("test_key_refused");
  if (scope === "session") {
    if (principal.kind !== "session") throw new Problem("session_required");
  } else if (scope !== "any") requireScope(principal, scope);
  if (!isAtLeast(principal.role, role)) throw new Problem("role_missing", { role });
}
