import type { Timer } from "../domain/time.ts";
import type { FlowState } from "../store/tasks/flow-claims.ts";

/** This worker's knowledge of one flow. */
export interface Flow {
  readonly teamId: number;
  readonly key: string;
  /** The queues that have due tasks of it, each with the turn of the first one there, or an earlier turn. */
  readonly lanes: Map<string, number>;
  /** Why no claim is made now; null if claims may find tasks. */
  blocked: FlowState["kind"] | null;
  timer: Timer | null;
  /** Its calls on this worker. */
  calls: number;
  /** Places are held until their tasks have ended. */
  holdsTasks: boolean;
  /** Its tasks start one at a time, in the order of creation, by a statement of their own. */
  isOrdered: boolean;
  /** The number of the last notice of a change that may free a place, or let the first task of its line start. */
  wakes: number;
  /** The number of the last notice of a change of its limits or pause. */
  refreshes: number;
  /** Other workers were told that tasks wait here. */
  isTold: boolean;
}

export function createLocalFlow(teamId: number, key: string): Flow {
  return {
    teamId,
    key,
    lanes: new Map(),
    blocked: null,
    timer: null,
    calls: 0,
    holdsTasks: false,
    isOrdered: false,
    wakes: 0,
    refreshes: 0,
    isTold: false,
  };
}
