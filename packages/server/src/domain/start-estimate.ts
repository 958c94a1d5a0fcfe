import { type Circumstances, gatesOf } from "./circumstances.ts";
import { type Explanation, explain, lineOf, type Reason } from "./explanation.ts";
import { whyHeld } from "./gate/decision.ts";
import type { InLine } from "./gate/gate.ts";

export interface EstimatedExplanation extends Explanation {
  /** About when it starts; null if that cannot be computed. */
  readonly startsAbout: Date | null;
}

export function explainWithEstimate(circumstances: Circumstances, isCrowded: boolean): EstimatedExplanation {
  const explanation = explain(circumstances, isCrowded);
  return { ...explanation, startsAbout: estimateStart(circumstances, explanation.reasons) };
}

/** While one of these reasons holds, the start cannot be estimated. */
const UNKNOWN: readonly Reason["code"][] = [
  "queue_paused",
  "no_worker",
  "team_share",
  "blocked_by",
  "breaker_open",
  "flow_paused",
  "flow_full",
  "sandbox",
];

/** Fewer starts in the last minutes say nothing about the next. */
const LEAST_STARTS = 20;
/** Tasks that go first are counted up to this number. */
const MOST_AHEAD = 1_000;

/**
 * About when a pending task starts: when it is due, when the rate of its flow allows it, and when those before it have
 * started, as fast as the queue started tasks in the last minutes, or as its rate lets them. Null where one of these is not known: it is an estimate, never a
 * guess.
 */
function estimateStart(task: Circumstances, reasons: readonly Reason[]): Date | null {
  if (task.status !== "pending" || reasons.some(({ code }) => UNKNOWN.includes(code))) return null;
  const held = whyHeld(gatesOf(task), task, task.now);
  // How long those before it in the line of its flow take is not known.
  if (lineOf(held, "flow") !== undefined) return null;
  const nowMs = task.now.getTime();
  const holder = lineOf(held, "queue")?.by ?? null;
  const times = [
    Math.max(nowMs, task.runAt.getTime()),
    afterOthers(task, holder, reasons),
    afterRate(task, reasons),
  ];
  const known = times.filter((time) => time !== null);
  return known.length < times.length ? null : new Date(Math.max(...known));
}

/** The queue starts those before the task first. `holder`: a further one, which holds its line. */
function afterOthers(task: Circumstances, holder: InLine | null, reasons: readonly Reason[]): number | null {
  const nowMs = task.now.getTime();
  const isFull = reasons.some(({ code }) => code === "queue_full");
  const ahead = (task.ahead ?? 0) + (holder === null ? 0 : 1);
  const rated = reasons.find(({ code }) => code === "queue_rate");
  if (rated !== undefined && task.rateState !== null && !isFull) {
    const { rate, period } = task.rateState;
    if (rated.until === null || ahead >= MOST_AHEAD) return null;
    return rated.until.getTime() + Math.floor(ahead / rate) * period * 1_000;
  }
  if (task.sandbox || (ahead === 0 && !isFull)) return nowMs;
  const { starts, minutes } = task.recent ?? { starts: 0, minutes: 0 };
  if (ahead >= MOST_AHEAD || starts < LEAST_STARTS || minutes === 0) return null;
  return nowMs + ((ahead + 1) / starts) * minutes * 60_000;
}

/** The rate of its flow lets so many begin in each period. */
function afterRate({ flowState, now }: Circumstances, reasons: readonly Reason[]): number | null {
  const rated = reasons.find(({ code }) => code === "flow_rate");
  if (rated === undefined || flowState === null) return now.getTime();
  const { rate, period, ahead } = flowState;
  if (rated.until === null || rate === null || ahead === null) return null;
  return rated.until.getTime() + Math.floor(ahead / rate) * (period ?? 1) * 1_000;
}
