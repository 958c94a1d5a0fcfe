import { Problem } from "../problem.ts";
import type { Plan } from "./plan.ts";
import { isAtLeast, type Role } from "./role.ts";

/** `id` is how the world names it; the small integer that every query carries stays inside. */
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

/** A link that was mailed to join a team, without its secret. */
export interface Invitation {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  readonly invitedBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/**
 * Refuses a change of a member's role that `role` may not make. A change that concerns an owner, before or after, takes an owner:
 * otherwise an admin could make itself one, or take the team from those it belongs to. Null is no member: not yet, or no
 * longer.
 */
export function requireRoleToChange(role: Role, change: { from: Role | null; to: Role | null }): void {
  const needed = change.from === "owner" || change.to === "owner" ? "owner" : "admin";
  if (!isAtLeast(role, needed)) throw new Problem("role_missing", { role: needed });
}
