import type { BreakerPhase } from "../breaker.ts";
import type { OnFailure } from "../queue.ts";
import type { TaskStatus } from "../task.ts";

/** What holds a place: a call, or a task from its first call to its end. */
export const HOLDS = ["call", "task"] as const;

/** The limits of a gate. Null: it has none of that kind. */
export interface Limits {
  /** Places: calls at once. */
  readonly concurrency: number | null;
  /** Permits: calls that begin within a period. */
  readonly rate: number | null;
  /** Seconds; set if the rate is. */
  readonly period: number | null;
  /** Its tasks form a line: they start one at a time, in the order of creation. */
  readonly ordered: boolean;
  readonly onFailure: OnFailure;
  readonly hold: (typeof HOLDS)[number];
}

export const NO_LIMITS: Limits = {
  concurrency: null,
  rate: null,
  period: null,
  ordered: false,
  onFailure: "continue",
  hold: "call",
};

/** What may hold a task back: its queue, its flow, or the host of its call if a circuit breaker holds that. */
export interface Gate {
  readonly kind: "queue" | "flow" | "host";
  /** The name of the queue or the host, or the key of the flow. */
  readonly name: string;
  readonly limits: Limits;
  /** Null: it is not paused. */
  readonly pause: Pause | null;
  readonly places: Places;
  readonly permits: Permits;
  readonly line: Line;
}

/** Without a time it ends when somebody resumes the gate. */
export interface Pause {
  readonly until: Date | null;
}

export interface Places {
  readonly taken: number;
  /** If the gate holds tasks: the waiting tasks that have kept the place of an earlier attempt. */
  readonly keptBy: ReadonlySet<string>;
  /** When one is free, if that is known. */
  readonly nextAt: Date | null;
}

export interface Permits {
  /** Those that count now. */
  readonly taken: number;
  /** When the first of them counts no more. */
  readonly nextAt: Date | null;
}

export interface Line {
  /** The tasks that hold the line, the oldest first. */
  readonly holders: readonly InLine[];
  /** The oldest due task. Null: not the task that asks. */
  readonly first: InLine | null;
}

export interface InLine {
  readonly id: string;
  readonly status: TaskStatus;
  /** It is no task of the queue itself: a callback of one of its messages. */
  readonly isElsewhere?: boolean;
  /** It is the first, and waits for this flow. */
  readonly flow?: string;
}

/** The state of a gate that holds nobody back. */
export const OPEN: Omit<Gate, "kind" | "name" | "limits"> = {
  pause: null,
  places: { taken: 0, keptBy: new Set(), nextAt: null },
  permits: { taken: 0, nextAt: null },
  line: { holders: [], first: null },
};

/** A time of a row; in JSON, times are texts. */
export type Instant = Date | string;

/** A flow as the statements read it. */
export interface FlowState extends Limits {
  readonly key: string;
  /** Until somebody resumes it. */
  readonly paused: boolean;
  /** By a target that asked to wait. */
  readonly pausedUntil: Instant | null;
  readonly taken: number;
  readonly begun: number;
  /** When the first permit of the window counts no more. */
  readonly nextAt: Instant | null;
  /** The tasks that hold its line, the oldest first. */
  readonly holders: readonly InLine[];
}

/** `keptBy`: the tasks that have kept a place. */
export function flowGate(
  state: FlowState,
  { keptBy, first }: Pick<Places, "keptBy"> & Pick<Line, "first">,
): Gate {
  const { key: name, concurrency, ordered, taken, begun, nextAt, holders } = state;
  return {
    kind: "flow",
    name,
    // The line is the limit.
    limits: { ...state, concurrency: ordered ? null : concurrency },
    pause: pauseOf(state),
    places: { taken, keptBy, nextAt: null },
    permits: { taken: begun, nextAt: dateOf(nextAt) },
    line: { holders, first },
  };
}

export function pauseOf({ paused, pausedUntil }: Pick<FlowState, "paused" | "pausedUntil">): Pause | null {
  if (paused) return { until: null };
  return pausedUntil === null ? null : { until: dateOf(pausedUntil) };
}

export function isPaused({ pause }: Pick<Gate, "pause">, now: Date): boolean {
  return pause !== null && (pause.until === null || pause.until > now);
}

/** A circuit breaker as the statements read it. */
export interface BreakerState {
  readonly host: string;
  readonly phase: BreakerPhase;
  readonly until: Instant;
}

/**
 * The gate has no places. The tasks with a pass have one: a pass is a place that is given in advance. An ordered queue
 * needs none: the head of its line is the probe, as soon as the breaker's time is over.
 */
export function hostGate(
  { host, phase, until }: BreakerState,
  { isOrdered, passes, now }: { isOrdered: boolean; passes: ReadonlySet<string>; now: Date },
): Gate {
  const opensAt = phase === "open" && new Date(until) > now ? new Date(until) : null;
  const isHeld = isOrdered ? opensAt !== null : phase !== "draining";
  return {
    ...OPEN,
    kind: "host",
    name: host,
    limits: { ...NO_LIMITS, concurrency: isHeld ? 0 : null, hold: "task" },
    places: { taken: 0, keptBy: passes, nextAt: opensAt },
  };
}

export function dateOf(at: Instant | null): Date | null {
  return at === null ? null : new Date(at);
}
