import type { Claim } from "../domain/claim.ts";
import type { Time } from "../domain/time.ts";
import type { Database, Sql } from "../store/sql.ts";
import type { SubscriberMemory } from "../store/tasks/event-writes.ts";
import { claimFlowTasks, type FlowClaimed, type FlowClaimRequest } from "../store/tasks/flow-claims.ts";
import { claimFirstOfLine, claimOrderedTask, type LineClaimed } from "../store/tasks/ordered-claims.ts";
import { claimAtRates, type RateState } from "../store/tasks/queue-rates.ts";
import { type ClaimRequest, claimDueTasks, claimFromQueues } from "../store/tasks/task-claims.ts";
import { type LocalQueue, type LocalQueues, openWindow } from "./local-queues.ts";

interface QueueClaim {
  readonly local: LocalQueue;
  readonly request: ClaimRequest;
}

export interface QueueClaims {
  /**
   * Claims due tasks of a queue, or of several that `mayShareClaim`. If a queue's rate lets no further call begin, closes the queue until
   * it does.
   */
  claim(asked: readonly QueueClaim[], memory: SubscriberMemory): Promise<readonly LineClaimed[]>;
  /** Claims tasks of flows; some of the queues may have a rate. */
  claimFlows(
    queues: Iterable<LocalQueue>,
    request: FlowClaimRequest,
    memory: SubscriberMemory,
  ): Promise<FlowClaimed>;
  /** The call begins now: its permit counts from now. */
  began(claim: Claim): void;
}

export function createQueueClaims(deps: {
  readonly database: Database;
  readonly localQueues: LocalQueues;
  readonly time: Time;
  readonly lineUp: (local: LocalQueue) => void;
}): QueueClaims {
  const { database, localQueues, time } = deps;

  function rate<Result extends { readonly claims: readonly Claim[] }>(
    teamId: number,
    rated: readonly LocalQueue[],
    claim: (sql: Sql, permits: ReadonlyMap<number, number>) => Promise<Result>,
  ): Promise<Result> {
    const asked = rated.flatMap(({ grant, begun }) =>
      grant === null ? [] : [{ queueId: grant.queueId, epoch: grant.epoch, begun: begun.splice(0) }],
    );
    return claimAtRates(database, teamId, asked, time.monotonicMs, claim).then((claimed) => {
      for (const local of rated) close(local, claimed.rates);
      return claimed;
    });
  }

  function close(local: LocalQueue, rates: readonly RateState[]): void {
    const waitMs = rates.find(({ queueId }) => queueId === local.grant?.queueId)?.waitMs ?? null;
    if (waitMs === null || local.retired) return;
    openWindow(local);
    const ring = () => {
      openWindow(local);
      deps.lineUp(local);
    };
    local.closed = time.setTimer(ring, Math.max(1, Math.ceil(waitMs)));
  }

  function claimOne({ local, request }: QueueClaim, memory: SubscriberMemory): Promise<LineClaimed> {
    const isOrdered = local.grant?.ordered ?? false;
    if (local.grant?.rate == null)
      return isOrdered
        ? claimOrderedTask(database, request, time.monotonicMs, memory)
        : claimDueTasks(database, request, memory);
    return rate<LineClaimed>(request.teamId, [local], async (sql, permits) => {
      const left = permits.get(request.queueId);
      const limit = Math.min(request.limit, left ?? 0);
      if (limit === 0) return { isCurrent: left !== undefined, claims: [], waitsMs: [] };
      if (isOrdered) return claimFirstOfLine(sql, request, time.monotonicMs, memory);
      return claimDueTasks(sql, { ...request, limit }, memory);
    });
  }

  return {
    async claim(asked, memory) {
      const [first, second] = asked;
      if (first !== undefined && second === undefined) return [await claimOne(first, memory)];
      const requests = asked.map(({ request }) => request);
      return claimFromQueues(database, requests, memory);
    },
    claimFlows(queues, request, memory) {
      const rated = [...queues].filter(({ grant }) => grant !== null && grant.rate !== null);
      if (rated.length === 0) return claimFlowTasks(database, request, time.monotonicMs(), memory);
      return rate(request.teamId, rated, (sql, permits) => {
        const offered = request.queues.map((queue) => ({
          ...queue,
          free: Math.min(queue.free, permits.get(queue.queueId) ?? queue.free),
        }));
        return claimFlowTasks(sql, { ...request, queues: offered }, time.monotonicMs(), memory);
      });
    },
    began({ teamId, queue, queueId, permitAt }) {
      const local = permitAt === null ? undefined : localQueues.find(teamId, queue);
      if (permitAt !== null && local?.grant?.queueId === queueId)
        local.begun.push({ permitAt, beganMs: time.monotonicMs() });
    },
  };
}
