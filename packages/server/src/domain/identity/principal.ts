import type { Limits } from "../limits.ts";
import { Problem } from "../problem.ts";
import type { Reach } from "../reach.ts";
import type { Plan } from "./plan.ts";
import type { Role } from "./role.ts";
import type { Scope } from "./scope.ts";

/** The caller: every query carries its team, and every query of tasks its environment. */
export interface Principal extends Reach {
  /** The team's public id: `team_…`. */
  readonly team: string;
  readonly kind: "api_key" | "session" | "application";
  /** The public id of the key, person or application, and its name, for the audit log. */
  readonly id: string;
  readonly name: string;
  /** The person who signed in or granted access; null for a key, and for an application acting for its own team. */
  readonly userId: string | null;
  readonly role: Role;
  /** Null is all of them. */
  readonly scopes: ReadonlySet<Scope> | null;
  readonly plan: Plan;
  /** Null is no limit. */
  readonly requestsPerMinute: number | null;
  /** The team's other limits. */
  readonly limits: Limits;
  /** Identifies the row of a session or an access token; null for a key, which has its id. */
  readonly tokenHash: Uint8Array | null;
}

/** The origin of a request, for the audit log. */
export interface RequestOrigin {
  readonly address: string;
  readonly requestId: string;
}

/** A principal that makes changes, with the origin that the audit log records. */
export interface Requester extends Principal, RequestOrigin {}

export function requireScope({ scopes }: Pick<Principal, "scopes">, scope: Scope): void {
  if (scopes !== null && !scopes.has(scope)) throw new Problem("scope_missing", { scope });
}
