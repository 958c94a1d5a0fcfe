import fc from "fast-check";
import type { OnFailure } from "../../src/domain/queue.ts";

/*
 * Small teams in every state that the claims may find them in. All times are milliseconds from the instant of the claims. Many of them are
 * at an edge: of a window, a pause, a deadline, the last look of a line.
 */

export interface Team {
  readonly queues: readonly TestQueue[];
  readonly flows: readonly TestFlow[];
  readonly tasks: readonly TestTask[];
  readonly claim: ClaimKind;
  /** Which of its waiting tasks is explained: not of every team, because that takes longer than the claims do. */
  readonly asks: number | null;
}

/** The claims of the engine: the first kind from this one on that finds a task. `plain`: of the one queue; `shared`: one claim for several queues; `both`: tasks with and without flows; `line`: of the one ordered queue. */
export const CLAIM_KINDS = ["plain", "shared", "flows", "both", "flow lines", "line"] as const;
export type ClaimKind = (typeof CLAIM_KINDS)[number];

export interface TestQueue {
  readonly concurrency: number;
  /** Slots that another worker has. */
  readonly elsewhere: number;
  readonly paused: boolean;
  readonly ordered: boolean;
  readonly onFailure: OnFailure;
  readonly rate: number | null;
  /** Seconds. */
  readonly period: number;
  readonly permits: readonly Permit[];
  /** The last look of its line; null: the line has not begun. */
  readonly lookedAt: number | null;
  /** Of each of HOSTS. */
  readonly breakers: readonly (Breaker | null)[];
}

export interface Permit {
  /** From the edge of the window. */
  readonly fromEdge: number;
  readonly count: number;
}

export interface Breaker {
  readonly phase: "open" | "closing" | "draining";
  readonly until: number;
}

interface Figures {
  readonly concurrency: number | null;
  readonly rate: number | null;
  readonly period: number;
  readonly ordered: boolean | null;
}

export interface TestFlow {
  readonly stored: Figures;
  readonly carried: Figures;
  readonly onFailure: OnFailure | null;
  readonly hold: "call" | "task" | null;
  readonly paused: boolean;
  readonly pausedUntil: number | null;
  /** The last look of its line; null: the line has not begun. */
  readonly lineAt: number | null;
  readonly permits: readonly Permit[];
}

export const HOSTS = ["a.example", "b.example:8443"] as const;

export const LIVES = [
  "new",
  "backing off",
  "returned",
  "retried by hand",
  "active",
  "waiting",
  "polling",
  "failed",
  "expired",
  "dismissed",
  "completed",
  "cancelled",
] as const;

export interface TestTask {
  readonly queue: number;
  readonly flow: number | null;
  readonly life: (typeof LIVES)[number];
  readonly priority: number;
  readonly createdAt: number;
  /** A pending task that is due later than it was created. */
  readonly dueAt: number | null;
  readonly deadlineAt: number | null;
  readonly host: number;
  /** What a breaker let it do: nothing yet, wait aside, begin with a pass, or begin with a pass that is used up. */
  readonly pass: "none" | "aside" | "passed" | "used";
  /** Claims whose places the flow has not forgotten: of this fence, counted back from the task's own. */
  readonly holds: readonly { readonly back: number; readonly permitFromEdge: number | null }[];
  /** It is in the record of the lines, as one that has begun. */
  readonly inQueueLine: boolean;
  readonly inFlowLine: boolean;
  /** The retries by hand since then. */
  readonly retriesSince: number;
  /** The line has looked at it since it came due. */
  readonly isSeen: boolean;
  /** A task of the sandbox, which no claim takes. */
  readonly sandbox: boolean;
  /** A flow that the task had before a retry by hand gave it another one: its line has not forgotten the task. */
  readonly formerFlow: number | null;
  /** A further queue whose line the task holds: it is the callback of a message of that queue. */
  readonly callbackOf: number | null;
}

const often = <T>(usual: T, rarely: fc.Arbitrary<T>, weight = 5): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: rarely });
const onFailure = fc.constantFrom<OnFailure>("continue", "block");
const permits = fc.array(
  fc.record({ fromEdge: fc.constantFrom(-1, 0, 1, 400, 900), count: fc.constantFrom(1, 2) }),
  { maxLength: 2 },
);
const looked = fc.constantFrom(null, Number.NEGATIVE_INFINITY, -3_000, -500);

const breaker: fc.Arbitrary<Breaker> = fc.record({
  phase: fc.constantFrom("open", "closing", "draining"),
  // A pass is from 10 ms ago.
  until: fc.constantFrom(-60_000, -11, -10, -9, 0, 1, 60_000),
});

const twoBreakers: fc.Arbitrary<readonly (Breaker | null)[]> = fc.array(fc.option(breaker), {
  minLength: 2,
  maxLength: 2,
});

const queue: fc.Arbitrary<TestQueue> = fc.record({
  concurrency: fc.constantFrom(1, 2, 3, 5),
  elsewhere: often<number>(0, fc.constantFrom(1, 2)),
  paused: often<boolean>(false, fc.constant(true), 12),
  ordered: often<boolean>(false, fc.constant(true), 2),
  onFailure,
  rate: often<number | null>(null, fc.constantFrom(1, 2, 3), 2),
  period: fc.constantFrom(1, 2),
  permits,
  lookedAt: looked,
  breakers: often<readonly (Breaker | null)[]>([null, null], twoBreakers, 2),
});

const figures: fc.Arbitrary<Figures> = fc.record({
  concurrency: fc.constantFrom(null, null, 1, 2, 3),
  rate: fc.constantFrom(null, null, 1, 2),
  period: fc.constantFrom(1, 2),
  ordered: fc.constantFrom(null, null, true, false),
});

const flow: fc.Arbitrary<TestFlow> = fc.record({
  stored: figures,
  carried: figures,
  onFailure: fc.option(onFailure),
  hold: fc.constantFrom(null, "call", "task"),
  paused: often<boolean>(false, fc.constant(true), 12),
  pausedUntil: often<number | null>(null, fc.constantFrom(-1, 0, 1), 3),
  lineAt: looked,
  permits,
});

const task: fc.Arbitrary<TestTask> = fc.record({
  queue: fc.nat({ max: 2 }),
  flow: fc.option(fc.nat({ max: 2 })),
  life: fc.oneof(
    { weight: 6, arbitrary: fc.constant("new" as const) },
    { weight: 2, arbitrary: fc.constantFrom("backing off", "returned", "retried by hand") },
    { weight: 2, arbitrary: fc.constantFrom(...LIVES) },
  ),
  priority: fc.constantFrom(1, 5, 5, 9, 10),
  createdAt: fc.constantFrom(-60_000, -20_000, -6_000, -3_000, -1_000, -1_000, 0),
  dueAt: often<number | null>(null, fc.constantFrom(-10_000, -5_500, -4_000, -1, 0, 1, 9_000), 2),
  deadlineAt: often<number | null>(null, fc.constantFrom(-1, 0, 1, 9_000), 8),
  host: fc.nat({ max: 1 }),
  pass: fc.constantFrom("none", "none", "aside", "passed", "used"),
  holds: fc.array(
    fc.record({
      back: fc.constantFrom(0, 0, 1),
      // Not right before the edge: a permit that a claim moves to the table is rounded up by a thousandth of the period.
      permitFromEdge: fc.constantFrom(null, null, -10, 1, 950),
    }),
    { maxLength: 2 },
  ),
  inQueueLine: often<boolean>(true, fc.constant(false), 3),
  inFlowLine: often<boolean>(true, fc.constant(false), 3),
  retriesSince: fc.constantFrom(0, 0, 1),
  isSeen: fc.boolean(),
  sandbox: often<boolean>(false, fc.constant(true), 20),
  formerFlow: often<number | null>(null, fc.nat({ max: 2 }), 12),
  callbackOf: often<number | null>(null, fc.nat({ max: 2 }), 12),
});

export const team: fc.Arbitrary<Team> = fc.record({
  queues: fc.array(queue, { minLength: 1, maxLength: 3 }),
  flows: fc.array(flow, { maxLength: 3, size: "max" }),
  tasks: fc.array(task, { minLength: 1, maxLength: 10, size: "max" }),
  claim: fc.constantFrom(...CLAIM_KINDS),
  asks: often<number | null>(null, fc.nat({ max: 9 }), 3),
});
