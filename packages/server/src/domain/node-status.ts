import type { NodeRole } from "./node-role.ts";

/** `lost`: its worker was taken for dead · `expired`: it may be, soon · `none`: it has no use for one. */
export const LEASE_STATES = ["held", "expired", "lost", "none"] as const;

/** What is known of one process of Bellhop. */
export interface NodeStatus {
  readonly name: string;
  readonly role: NodeRole;
  readonly version: string;
  readonly startedAt: Date;
  /** How long ago it was heard of. */
  readonly lagMs: number;
  readonly lease: (typeof LEASE_STATES)[number];
  /** That it holds in queues. */
  readonly slots: number;
  readonly callsInFlight: number;
  readonly maxInFlight: number;
  /** How far its clock is ahead of the database's. */
  readonly clockOffsetMs: number;
}
