import type { Limits } from "../limits.ts";
import { Problem } from "../problem.ts";
import type { Reach } from "../reach.ts";
import type { Plan } from "./plan.ts";
import type { Role } from "./role.ts";
import type { Scope } from "./scope.ts";

/** Who is calling: every query carries its team, and every query of tasks its environment. */
export interface Principal extends Reach {
  /** The same team as callers know it: `team_…`. */
  readonly team: string;
  readonly kind: "api_key" | "session" | "application";
  /** The public id of the key, the person or the application, and what people call it: so the audit log names it. */
  readonly id: string;
  readonly name: string;
  /** The person who signed in, or who let the application in; null for a key, and for an application on its own. */
  readonly userId: string | null;
  readonly role: Role;
  /** Null is all of them. */
  readonly scopes: ReadonlySet<Scope> | null;
  readonly plan: Plan;
  /** Null is no limit. */
  readonly requestsPerMinute: number | null;
  /** What else the team may do. */
  readonly limits: Limits;
  /** By which the row of a session or an access token is found again; null for a key, which has its id. */
  readonly tokenHash: Uint8Array | null;
}

/** Where a request came from, for the audit log. */
export interface RequestOrigin {
  readonly address: string;
  readonly requestId: string;
}

/** A principal at work: what it changes is recorded with where it called from. */
export interface Requester extends Principal, RequestOrigin {}

export function requireScope({ scopes }: Pick<Principal, "scopes">, scope: Scope): void {
  if (scopes !== null && !scopes.has(scope)) throw new Problem("scope_missing", { scope });
}
