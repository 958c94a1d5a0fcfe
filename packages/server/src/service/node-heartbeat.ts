import type { NodeRole } from "../domain/node-role.ts";
import { beatNode, insertNode, removeNode } from "../store/nodes.ts";
import type { Sql } from "../store/sql.ts";

const BEAT_MS = 4_000;

export interface NodeHeartbeat {
  /** Writes this node's heartbeat and state. Returns the milliseconds until the next. */
  beatOnce(): Promise<number>;
  /** Removes this node from the list on a stop. */
  leave(): Promise<void>;
}

/** Maintains this node's entry in the operator's list. Nothing else depends on it. */
export function createNodeHeartbeat(deps: {
  readonly sql: Sql;
  readonly name: string;
  readonly role: NodeRole;
  readonly version: string;
  readonly maxInFlight: number;
  /** Null on a node that makes no calls. */
  readonly workerId: () => number | null;
  readonly callsInFlight: () => number;
  /** The longest delay of the event loop since it was last asked for. */
  readonly takeLoopLagMs: () => number;
  readonly nowMs: () => number;
}): NodeHeartbeat {
  const { sql, name, role, version, maxInFlight, nowMs } = deps;
  const startedMs = nowMs();
  let id: number | null = null;
  let isLeaving = false;

  return {
    async beatOnce() {
      if (isLeaving) return BEAT_MS;
      const beat = {
        workerId: deps.workerId(),
        callsInFlight: deps.callsInFlight(),
        loopLagMs: deps.takeLoopLagMs(),
        nowMs: nowMs(),
      };
      const isListed = id !== null && (await beatNode(sql, id, beat));
      if (!isListed) id = await insertNode(sql, { ...beat, name, role, version, maxInFlight, startedMs });
      return BEAT_MS;
    },
    async leave() {
      isLeaving = true;
      if (id !== null) await removeNode(sql, id);
    },
  };
}
