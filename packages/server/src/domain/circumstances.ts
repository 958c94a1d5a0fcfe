import {
  type BreakerState,
  dateOf,
  type FlowState,
  flowGate,
  type Gate,
  hostGate,
  type InLine,
  type Instant,
  NO_LIMITS,
  OPEN,
} from "./gate/gate.ts";
import type { PollsSeen, Task } from "./task.ts";

/** The data about a task and its environment at one instant. */
export interface Circumstances extends Pick<Task, "id" | "shape" | "status" | "sandbox" | "runAt" | "queue"> {
  readonly now: Date;
  /** For a sandbox task: it is simulated. */
  readonly isSimulated: boolean;
  readonly deadlineAt: Date | null;
  readonly attemptCount: number;
  /** Failed attempts since its creation or last manual retry. */
  readonly failures: number;
  /** The number of manual retries. */
  readonly retries: number;
  /** The target's Retry-After set the current delay. */
  readonly isAskedToWait: boolean;
  readonly attemptStartedAt: Date | null;
  /** For a polling task after its first poll. */
  readonly polls: PollsSeen | null;
  /** The node that makes its call. */
  readonly node: string | null;
  readonly timeoutSeconds: number;
  readonly paused: boolean;
  readonly concurrency: number;
  readonly hasWorkers: boolean;
  /** For a pending task: the nodes that make calls of its queue. */
  readonly holders: readonly { readonly node: string; readonly calls: number }[] | null;
  /** For a pending task with a flow: the state of the flow. */
  readonly flowState: FlowCircumstances | null;
  /** For a pending task of a queue with a rate: what the rate lets begin. */
  readonly rateState: RateCircumstances | null;
  /** For a pending task whose host is held back: the breaker. */
  readonly breaker: (BreakerState & { readonly hasPass: boolean }) | null;
  /** For a pending task: the number of due tasks of its queue that go first. */
  readonly ahead: number | null;
  /** For a pending task: the starts of its queue in the last full minutes that had any, three at most. */
  readonly recent: { readonly starts: number; readonly minutes: number } | null;
  /** The queue is ordered. */
  readonly ordered: boolean;
  /** For a pending task of an ordered queue: the tasks that hold the line, the oldest first. */
  readonly lineHolders: readonly LineHolder[] | null;
  /** The first task of the line, if that is another one with a flow: the line waits for the flow. */
  readonly lineHead: LineHolder | null;
}

export interface LineHolder extends InLine, Pick<Task, "shape"> {
  readonly runAtMs: number;
}

/** What a rate lets begin at one instant. */
export interface RateCircumstances {
  readonly rate: number;
  readonly period: number;
  readonly begun: number;
  /** When the next call may begin by the rate. */
  readonly nextAt: Instant | null;
}

/** What a flow lets begin at one instant. */
export interface FlowCircumstances extends FlowState {
  readonly holders: readonly LineHolder[];
  /** The task kept the place of an earlier attempt. */
  readonly hasPlace: boolean;
  /** Due tasks of the flow that go first; null if too many are due to count them. */
  readonly ahead: number | null;
}

/** What may hold a pending task back, at one instant. */
export function gatesOf(task: Circumstances): Gate[] {
  const { id, now, breaker, flowState, ordered } = task;
  const passes = new Set(breaker?.hasPass ? [id] : []);
  const host = breaker === null ? [] : [hostGate(breaker, { isOrdered: ordered, passes, now })];
  return [...host, ...(flowState === null ? [] : [flowGateOf(flowState, task)]), queueGateOf(task)];
}

function flowGateOf(flow: FlowCircumstances, { id, status }: Circumstances): Gate {
  const keptBy = new Set(flow.hasPlace ? [id] : []);
  return flowGate(flow, { keptBy, first: flow.ahead === 0 ? { id, status } : null });
}

function queueGateOf(task: Circumstances): Gate {
  const { id, status, queue, concurrency, ordered, rateState } = task;
  return {
    ...OPEN,
    kind: "queue",
    name: queue,
    limits: {
      ...NO_LIMITS,
      concurrency,
      ordered,
      rate: rateState?.rate ?? null,
      period: rateState?.period ?? null,
    },
    pause: task.paused ? { until: null } : null,
    places: { ...OPEN.places, taken: callsOf(task) },
    permits: { taken: rateState?.begun ?? 0, nextAt: dateOf(rateState?.nextAt ?? null) },
    line: { holders: task.lineHolders ?? [], first: task.ahead === 0 ? { id, status } : task.lineHead },
  };
}

function callsOf({ holders }: Circumstances): number {
  return (holders ?? []).reduce((sum, { calls }) => sum + calls, 0);
}
