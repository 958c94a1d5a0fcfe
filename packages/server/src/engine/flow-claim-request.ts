import type { FlowClaimRequest } from "../store/tasks/flow-claims.ts";
import type { Flow } from "./local-flow.ts";
import type { LocalQueue } from "./local-queues.ts";

/** A claim for these flows, with the slots that were reserved for it in their queues. */
export function claimRequest(
  teamId: number,
  workerId: number,
  chosen: readonly Flow[],
  queues: ReadonlyMap<LocalQueue, number>,
  limit: number,
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
  return { teamId, workerId, queues: offered, lanes, limit, isOrdered: chosen[0]?.isOrdered ?? false };
}
