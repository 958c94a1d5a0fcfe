import type { FlowClaimRequest } from "../store/tasks/flow-claims.ts";
import type { KnownFlows } from "./known-flows.ts";
import type { Flow } from "./local-flow.ts";
import type { LocalQueue, LocalQueues } from "./local-queues.ts";
import { type RoundCost, WHOLE } from "./round-cost.ts";

/** Tasks in one claim. */
export const CLAIM_LIMIT = 200;
/** Flows in one claim. */
const MOST_FLOWS = 100;
export const FLOW_CLAIM_COST: RoundCost = { rows: CLAIM_LIMIT, bytes: CLAIM_LIMIT * WHOLE, turns: "in turn" };

/** The flows that wait for this queue, with slots for them in all of their queues: tasks of a flow go by priority there. */
export function chooseFlows(
  local: LocalQueue,
  deps: {
    readonly localQueues: LocalQueues;
    readonly known: Pick<KnownFlows, "unblock" | "leaveLine">;
    readonly lineUp: (local: LocalQueue) => void;
  },
): { readonly chosen: Flow[]; readonly queues: Map<LocalQueue, number> } {
  const { localQueues, known } = deps;
  const chosen: Flow[] = [];
  const queues = new Map<LocalQueue, number>();
  for (const flow of local.flows) {
    if (chosen.length === MOST_FLOWS) break;
    if (chosen[0] !== undefined && chosen[0].isOrdered !== flow.isOrdered) continue;
    // Its tasks here may have been claimed since it lined up: it would be served again and again.
    local.flows.delete(flow);
    if (!flow.lanes.has(local.queue)) continue;
    chosen.push(flow);
    known.unblock(flow);
    known.leaveLine(flow);
    for (const queue of flow.lanes.keys()) {
      const other = localQueues.open(flow.teamId, queue);
      // Those of an ordered queue are claimed with its line.
      if (queues.has(other) || (other.grant?.ordered && !other.stale)) continue;
      const free = other.stale ? 0 : Math.min(localQueues.free(other), CLAIM_LIMIT);
      if (other.stale) deps.lineUp(other);
      if (free <= 0) continue;
      localQueues.take(other, free);
      queues.set(other, free);
    }
  }
  return { chosen, queues };
}

/** A claim for these flows, with the slots that were reserved for it in their queues. */
export function claimRequest(
  teamId: number,
  workerId: number,
  chosen: readonly Flow[],
  queues: ReadonlyMap<LocalQueue, number>,
): FlowClaimRequest {
  const offered = [...queues].flatMap(([{ queue, grant }, free]) =>
    grant === null ? [] : [{ ...grant, queue, free }],
  );
  const ids = new Map(offered.map(({ queue, queueId }) => [queue, queueId]));
  const lanes = chosen.flatMap(({ key, lanes: own }) =>
    [...own.keys()].flatMap((queue) => {
      const queueId = ids.get(queue);
      return queueId === undefined ? [] : [{ flow: key, queueId }];
    }),
  );
  return {
    teamId,
    workerId,
    queues: offered,
    lanes,
    limit: CLAIM_LIMIT,
    isOrdered: chosen[0]?.isOrdered ?? false,
  };
}
