import { Problem } from "../problem.ts";
import type { Plan } from "./plan.ts";
import { isAtLeast, type Role } from "./role.ts";

/** `id` is the public id; the small integer of the queries stays internal. */
export interface Team {
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
  readonly createdAt: Date;
}

/** A team as one of its members sees it. */
export interface Membership {
  readonly teamId: number;
  readonly team: Team;
  readonly role: Role;
  readonly joinedAt: Date;
}

export interface Member {
  readonly userId: string;
  readonly email: string;
  readonly role: Role;
  readonly joinedAt: Date;
}

/** A mailed link to join a team, without its secret. */
export interface Invitation {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  readonly invitedBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/**
 * Refuses a role change that `role` may not make. A change that concerns an owner, before or after, requires an owner:
 * otherwise an admin could become one, or take the team from its owners. Null means not a member.
 */
export function requireRoleToChange(role: Role, change: { from: Role | null; to: Role | null }): void {
  const needed = change.from === "owner" || change.to === "owner" ? "owner" : "admin";
  if (!isAtLeast(role, needed)) throw new Problem("role_missing", { role: needed });
}
