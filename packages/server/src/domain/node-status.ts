import type { NodeRole } from "./node-role.ts";

/** `lost`: its worker was considered dead · `expired`: that may follow soon · `none`: it needs no lease. */
export const LEASE_STATES = ["held", "expired", "lost", "none"] as const;

/** The status of one node. */
export interface NodeStatus {
  readonly name: string;
  readonly role: NodeRole;
  readonly version: string;
  readonly startedAt: Date;
  /** The age of its last heartbeat. */
  readonly lagMs: number;
  readonly lease: (typeof LEASE_STATES)[number];
  /** The slots that it holds. */
  readonly slots: number;
  readonly callsInFlight: number;
  readonly maxInFlight: number;
  /** The offset of its clock from the database's. */
  readonly clockOffsetMs: number;
  /** The longest delay of its event loop between its last two heartbeats. */
  readonly loopLagMs: number;
}
