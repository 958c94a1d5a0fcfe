import type { PlainLane } from "../store/tasks/flow-claim-lanes.ts";
import type { FlowClaimRequest } from "../store/tasks/flow-claims.ts";
import { NEVER } from "../store/tasks/turns.ts";
import type { KnownFlows } from "./known-flows.ts";
import type { Flow } from "./local-flow.ts";
import { expectTasks, type LocalQueue, type LocalQueues } from "./local-queues.ts";
import { type RoundCost, WHOLE } from "./round-cost.ts";

/** Tasks in one claim. */
export const CLAIM_LIMIT = 200;
/** Flows in one claim. */
const MOST_FLOWS = 100;
const UNKNOWN = Number.POSITIVE_INFINITY;
export const FLOW_CLAIM_COST: RoundCost = { rows: CLAIM_LIMIT, bytes: CLAIM_LIMIT * WHOLE, turns: "in turn" };

/** What a claim may use of a queue. */
export interface Offer {
  /** The slots that were reserved for the claim. */
  readonly free: number;
  /** The most tasks without a flow that the claim looks for, and how many of them were known. */
  readonly plain: number;
  readonly waiting: number;
  /** The turn of the first task that the claim does not look for, or an earlier turn: nothing later may start. */
  readonly last: number;
}

export type Offers = ReadonlyMap<LocalQueue, Offer>;

/**
 * The flows whose turn it is in this queue, and what the claim may use of each of their queues: tasks of a flow go by priority over
 * all of these. A queue that another claim uses is left out. `busy` keeps other claims from the queues of this one.
 */
export function chooseFlows(
  local: LocalQueue,
  deps: {
    readonly localQueues: LocalQueues;
    readonly known: Pick<KnownFlows, "unblock" | "leaveLine">;
    readonly lineUp: (local: LocalQueue) => void;
  },
): { readonly chosen: readonly Flow[]; readonly offers: Offers } {
  const { localQueues, known } = deps;
  const chosen = firstFlows(local);
  const slots = new Map<LocalQueue, number>();
  function reserve(queue: LocalQueue): void {
    const free = Math.min(localQueues.free(queue), CLAIM_LIMIT);
    if (free <= 0) return;
    localQueues.take(queue, free);
    slots.set(queue, free);
    queue.busy = true;
  }
  reserve(local);
  for (const flow of chosen) {
    known.unblock(flow);
    known.leaveLine(flow);
    for (const queue of flow.lanes.keys()) {
      const other = localQueues.open(flow.teamId, queue);
      // Tasks of an ordered queue are claimed with its line.
      if (other.busy || (other.grant?.ordered && !other.stale)) continue;
      if (other.stale) deps.lineUp(other);
      else reserve(other);
    }
  }
  const isOrdered = chosen[0]?.isOrdered ?? false;
  const mayPass = (flow: Flow) => local.hasOnlyLooked && flow.isOrdered === isOrdered;
  const offers = new Map<LocalQueue, Offer>();
  for (const [queue, free] of slots) {
    // After a claim that took nothing the next one may: other nodes may claim from these flows or tell of them faster than this one asks.
    const last = firstTurn(queue, queue === local ? mayPass : () => false);
    offers.set(queue, { free, ...plainOffer(queue, free, last, isOrdered) });
  }
  return { chosen, offers };
}

function plainOffer(queue: LocalQueue, free: number, last: number, isOrdered: boolean): Omit<Offer, "free"> {
  const { waiting, turn } = queue;
  if (isOrdered || waiting === 0)
    return { plain: 0, waiting, last: waiting === 0 ? last : Math.min(last, turn) };
  const plain = Math.min(free, waiting);
  // The claim may miss tasks that arrive meanwhile; they are counted again.
  queue.waiting = waiting === UNKNOWN ? 0 : waiting - plain;
  queue.turn = NEVER;
  return { plain, waiting, last };
}

/** What the claim left of the tasks without a flow. Returns the queues that had fewer of them than the claim looked for. */
export function learnPlain(offers: Offers, lanes: readonly PlainLane[]): LocalQueue[] {
  const byQueue = new Map(lanes.map((lane) => [lane.queueId, lane]));
  return [...offers].flatMap(([queue, { plain, waiting }]) => {
    if (plain === 0) return [];
    const lane = byQueue.get(queue.grant?.queueId ?? 0);
    if (lane === undefined) {
      expectTasks(queue);
      return [];
    }
    queue.turn = Math.min(queue.turn, lane.next);
    // Tasks that the claim did not look for, or does not know to be gone, are still there.
    if (!lane.isShort) queue.waiting = waiting === UNKNOWN ? UNKNOWN : queue.waiting + plain - lane.taken;
    else queue.waiting += lane.left;
    return lane.isShort ? [queue] : [];
  });
}

/** Without an answer, nothing is known of them. */
export function forgetPlain(offers: Offers): void {
  for (const [queue, { plain }] of offers) if (plain > 0) expectTasks(queue);
}

/**
 * The flows with the earliest turns. Ordered flows are claimed by a statement of their own: whether the claim takes those, or the others and
 * the tasks without a flow, is decided by the first of all.
 */
function firstFlows(local: LocalQueue): Flow[] {
  // Tasks of such a flow may have been claimed since it lined up: it would be served again and again.
  for (const flow of local.flows) if (!flow.lanes.has(local.queue)) local.flows.delete(flow);
  let first = local.waiting > 0 ? { turn: local.turn, isOrdered: false } : null;
  for (const flow of local.flows) {
    const turn = turnIn(local, flow);
    if (first === null || turn < first.turn) first = { turn, isOrdered: flow.isOrdered };
  }
  // To sort all of 10,000 flows would take longer than their claim. Of equal turns, the flow that waits longest is first.
  const chosen: { readonly flow: Flow; readonly turn: number }[] = [];
  let last = Number.POSITIVE_INFINITY;
  const keepFirst = () => {
    chosen.sort((one, other) => (one.turn === other.turn ? 0 : one.turn - other.turn)).splice(MOST_FLOWS);
    last = chosen[MOST_FLOWS - 1]?.turn ?? last;
  };
  for (const flow of local.flows) {
    const turn = turnIn(local, flow);
    if (flow.isOrdered !== first?.isOrdered || (chosen.length >= MOST_FLOWS && turn >= last)) continue;
    chosen.push({ flow, turn });
    if (chosen.length === 2 * MOST_FLOWS) keepFirst();
  }
  keepFirst();
  return chosen.map(({ flow }) => flow);
}

/** The earliest turn of the flows that wait for slots of this queue, but for those that the claim may pass. */
function firstTurn(local: LocalQueue, mayPass: (flow: Flow) => boolean): number {
  let first = NEVER;
  for (const flow of local.flows) if (!mayPass(flow)) first = Math.min(first, turnIn(local, flow));
  return first;
}

function turnIn({ queue }: LocalQueue, { lanes }: Flow): number {
  return lanes.get(queue) ?? NEVER;
}

/** A claim for these flows. */
export function claimRequest(
  teamId: number,
  workerId: number,
  chosen: readonly Flow[],
  offers: Offers,
): FlowClaimRequest {
  const queues = [...offers].flatMap(([{ queue, grant }, offer]) =>
    grant === null ? [] : [{ ...grant, queue, ...offer }],
  );
  const ids = new Map(queues.map(({ queue, queueId }) => [queue, queueId]));
  const lanes = chosen.flatMap(({ key, lanes: own }) =>
    [...own.keys()].flatMap((queue) => {
      const queueId = ids.get(queue);
      return queueId === undefined ? [] : [{ flow: key, queueId }];
    }),
  );
  const isOrdered = chosen[0]?.isOrdered ?? false;
  return { teamId, workerId, queues, lanes, limit: CLAIM_LIMIT, isOrdered };
}
