import type { FlowLane } from "../store/tasks/flow-claim-lanes.ts";
import type { FlowClaimed, FlowState } from "../store/tasks/flow-claims.ts";
import { FIRST, NEVER } from "../store/tasks/turns.ts";
import type { Offers } from "./flow-claim-request.ts";
import type { Flow } from "./local-flow.ts";
import type { LocalQueue } from "./local-queues.ts";

/** What was known of a flow when its claim was sent. What is noticed after that may not be in the answer. */
export interface Mark extends Pick<Flow, "wakes" | "refreshes"> {
  /** The queues of the claim in which the flow has tasks, with the turns that were known. */
  readonly asked: ReadonlyMap<LocalQueue, number>;
}

/** The turns of the next tasks in each lane where a claim found some. */
export type NextTurns = ReadonlyMap<string, number>;

/** From now on, the flow's lanes in the queues of the claim have what is noticed meanwhile. */
export function markOf(flow: Flow, offers: Offers): Mark {
  const { lanes, wakes, refreshes } = flow;
  const asked = new Map<LocalQueue, number>();
  for (const local of offers.keys()) {
    const turn = lanes.get(local.queue);
    if (turn === undefined) continue;
    asked.set(local, turn);
    lanes.set(local.queue, NEVER);
  }
  return { asked, wakes, refreshes };
}

/** The claim has no answer. */
export function forgetMark(flow: Flow, { asked }: Mark): void {
  for (const [local, turn] of asked) expectIn(flow, local, turn);
}

export function turnsOf(lanes: readonly FlowLane[]): NextTurns {
  return new Map(lanes.map(({ flow, queueId, next }) => [nameOf(flow, queueId), next]));
}

/** Learns from the answer to a claim when the flow's next tasks have their turns. */
export function learnLanes(flow: Flow, { kind }: FlowState, { asked }: Mark, nextTurns: NextTurns): void {
  for (const [local, turn] of asked) {
    const next = nextTurns.get(nameOf(flow.key, local.grant?.queueId));
    const hasLooked = kind === "open" && !local.stale && local.closed === null;
    if (next !== undefined || !hasLooked) expectIn(flow, local, next ?? turn);
  }
  // Another task may be the first of the line now.
  if (flow.isOrdered && kind !== "open") for (const queue of flow.lanes.keys()) flow.lanes.set(queue, FIRST);
}

/** The claim took nothing in this queue although it found tasks of flows there. */
export function hasOnlyLooked({ grant }: LocalQueue, { claims, lanes }: FlowClaimed): boolean {
  const isHere = ({ queueId }: { readonly queueId: number }) => queueId === grant?.queueId;
  return lanes.some(isHere) && !claims.some(isHere);
}

/** No task of the flow in this queue has an earlier turn. */
function expectIn({ lanes }: Flow, { queue }: LocalQueue, turn: number): void {
  lanes.set(queue, Math.min(turn, lanes.get(queue) ?? NEVER));
}

function nameOf(flow: string, queueId: number | undefined): string {
  return `${queueId} ${flow}`;
}
