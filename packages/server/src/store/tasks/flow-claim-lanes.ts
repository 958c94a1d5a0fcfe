import type { Claim } from "../../domain/claim.ts";
import { FIRST, NEVER } from "./turns.ts";

/** What the claim left of a flow's tasks in a queue. */
export interface FlowLane {
  readonly flow: string;
  readonly queueId: number;
  /** The turn of the next due task, or an earlier one; `NEVER`: there is none. */
  readonly next: number;
}

/** What it left of the tasks without a flow, in a queue where it looked for them. */
export interface PlainLane {
  readonly queueId: number;
  readonly next: number;
  readonly taken: number;
  /** How many it found and did not take. */
  readonly left: number;
  /** It found fewer than it looked for. */
  readonly isShort: boolean;
}

/** The answer of the statement for one flow, or for the tasks without a flow, in one queue. It has none where nothing was found. */
export interface FoundLane {
  readonly flow: string | null;
  readonly queueId: number;
  readonly found: number;
  readonly next: number | null;
}

export function flowLanes(found: readonly FoundLane[]): FlowLane[] {
  return found.flatMap(({ flow, queueId, next }) =>
    flow === null ? [] : [{ flow, queueId, next: next ?? NEVER }],
  );
}

export function plainLanes(
  found: readonly FoundLane[],
  queues: readonly { readonly queueId: number; readonly free: number; readonly plain?: number }[],
  claims: readonly Claim[],
): PlainLane[] {
  return queues.flatMap(({ queueId, free, plain = 0 }): PlainLane[] => {
    if (plain === 0) return [];
    const lane = found.find((each) => each.flow === null && each.queueId === queueId);
    const count = lane?.found ?? 0;
    const taken = claims.filter((each) => each.flow === null && each.queueId === queueId).length;
    const isShort = count < Math.min(free, plain);
    return [{ queueId, next: lane?.next ?? (isShort ? NEVER : FIRST), taken, left: count - taken, isShort }];
  });
}
