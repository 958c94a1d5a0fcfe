import type { Claim } from "../domain/claim.ts";
import type { Time } from "../domain/time.ts";
import { createSubscriberMemory } from "../store/tasks/event-writes.ts";
import type { LineClaimed } from "../store/tasks/ordered-claims.ts";
import type { SlotGrant } from "../store/tasks/queue-slots.ts";
import type { ClaimRequest } from "../store/tasks/task-claims.ts";
import type { Flows } from "./flows.ts";
import type { Lease } from "./lease.ts";
import { expectTasks, type LocalQueue, type LocalQueues } from "./local-queues.ts";
import { type EngineMeter, NO_METER } from "./meter.ts";
import type { QueueClaims } from "./queue-claims.ts";
import type { Unanswered } from "./unanswered.ts";

/** A larger claim delays its first task without a gain. */
export const CLAIM_LIMIT = 200;

export interface ClaimDueDeps {
  readonly localQueues: LocalQueues;
  readonly lease: Lease;
  readonly time: Time;
  readonly meter?: EngineMeter;
  readonly unanswered: Unanswered;
  readonly start: (claim: Claim, local: LocalQueue) => void;
  /** A claim found fewer tasks than requested. */
  readonly onShort: (local: LocalQueue) => void;
  /** Releases claims that were granted too late to start. */
  readonly release: (claims: readonly Claim[]) => Promise<void>;
  /** Takes the tasks that a circuit breaker of the queue holds back out of its line. */
  readonly holdBack?: (teamId: number, grant: SlotGrant) => Promise<void>;
  readonly claim: QueueClaims["claim"];
  /** For the lines of ordered queues, whose tasks may have flows. */
  readonly lines?: Pick<Flows, "joinLine" | "notices" | "headFound">;
}

/** A claim for one queue, with the slots that it has reserved there. */
interface Turn {
  readonly local: LocalQueue;
  readonly request: ClaimRequest;
  /** The known due tasks before this claim. */
  readonly waiting: number;
  started: number;
}

/** Claims due tasks of one queue, or of several that `mayShareClaim`, and starts their calls. */
export function createClaimDue(deps: ClaimDueDeps): (locals: readonly LocalQueue[]) => Promise<void> {
  const { localQueues, lease, time, meter = NO_METER } = deps;
  const subscribers = createSubscriberMemory();

  function begin(local: LocalQueue, most: number): Turn | null {
    const { teamId, queue, grant, waiting } = local;
    const limit = Math.min(localQueues.free(local), waiting, most);
    if (grant === null || limit <= 0) return null;
    // The claim may miss tasks that arrive meanwhile; they are counted again.
    local.waiting = waiting === Number.POSITIVE_INFINITY ? 0 : waiting - limit;
    local.covering = limit === waiting;
    local.usedAtMs = time.monotonicMs();
    localQueues.take(local, limit);
    const { queueId, epoch, holdsHosts } = grant;
    const request = { teamId, queue, queueId, epoch, workerId: lease.workerId, limit, holdsHosts };
    return { local, request, waiting, started: 0 };
  }

  function end({ local, request, started }: Turn): void {
    local.covering = false;
    localQueues.giveBack(local, request.limit - started);
  }

  function take(turn: Turn, claimed: LineClaimed, sinceNotice: number): void {
    const { local, request, waiting } = turn;
    const { isCurrent, claims, waitsMs, head } = claimed;
    turn.started = claims.length;
    for (const waitMs of waitsMs) meter.waited(waitMs, request.teamId, request.queueId);
    if (!isCurrent) local.stale = true;
    // An ordered claim skips no locked row, and what holds its line is heard of when it ends.
    else if (claims.length < request.limit && !local.grant?.ordered && local.closed === null)
      deps.onShort(local);
    // If the number was unknown, more tasks may wait until a claim returns fewer than requested.
    const more = waiting === Number.POSITIVE_INFINITY && claims.length === request.limit;
    if (!isCurrent || more || local.closed !== null) expectTasks(local);
    if (head !== undefined) deps.lines?.headFound(local, head, sinceNotice);
    for (const one of claims) deps.start(one, local);
  }

  return async (locals) => {
    for (const local of locals)
      if (local.grant?.holdsHosts && localQueues.free(local) > 0)
        await deps.holdBack?.(local.teamId, local.grant);
    const turns: Turn[] = [];
    let most = CLAIM_LIMIT;
    for (const local of locals) {
      const turn = begin(local, most);
      if (turn === null) continue;
      most -= turn.request.limit;
      turns.push(turn);
    }
    if (turns.length === 0) return;
    const beganMs = time.monotonicMs();
    const sinceNotice = deps.lines?.notices() ?? 0;
    const question = deps.unanswered.ask();
    try {
      const claimed = await deps.claim(turns, subscribers);
      if (question.isTooOld()) return await deps.release(claimed.flatMap(({ claims }) => claims));
      const count = claimed.reduce((sum, { claims }) => sum + claims.length, 0);
      meter.batch("claim", count, time.monotonicMs() - beganMs);
      for (const [index, turn] of turns.entries()) {
        const found = claimed[index];
        if (found !== undefined) take(turn, found, sinceNotice);
      }
    } finally {
      question.end();
      for (const turn of turns) end(turn);
    }
  };
}
