import { invalid, mustBe } from "./complaint.ts";
import type { CallResponse, Outcome } from "./outcome.ts";
import type { PollPlan } from "./poll/poll-plan.ts";
import { FRESH_POLL } from "./poll/poll-verdict.ts";
import type { ProblemDetail } from "./problem.ts";
import { cutToBytes } from "./result-body.ts";
import { isStorable, STORABLE_RULE } from "./storable-text.ts";
import {
  type FailureReason,
  type FollowUp,
  NO_FOLLOW_UP,
  type Shape,
  type Simulation,
  type TaskResult,
} from "./task.ts";
import { judge, type Trial, type Verdict } from "./verdict.ts";

/** 100 retries and the first attempt. */
export const MOST_SIMULATED_ATTEMPTS = 101;

/** A hundred bodies are in memory at once. */
const MOST_BODY_BYTES = 65_536;

const EARLY: Pick<Simulation, "responseCode" | "body"> = { responseCode: 500, body: "" };

export function simulationComplaints(
  { outcome, responseCode, body }: Simulation,
  shape: Shape,
): ProblemDetail[] {
  const complaints: ProblemDetail[] = [];
  const code = shape === "queue" ? 'simulate["response_code"]' : 'simulate["responseCode"]';
  if (responseCode !== null && outcome === "timeout")
    complaints.push({ field: code, error: `${code} must be left out with outcome "timeout"` });
  else if (responseCode !== null && isSuccess(responseCode) === (outcome === "fail"))
    complaints.push(
      mustBe(
        code,
        `${outcome === "fail" ? "another code than" : ""} 200 to 299 with outcome "${outcome}"`.trim(),
      ),
    );
  if (!isStorable(body)) complaints.push(mustBe('simulate["body"]', STORABLE_RULE));
  if (cutToBytes(body, MOST_BODY_BYTES).cut)
    complaints.push(mustBe('simulate["body"]', `at most ${MOST_BODY_BYTES / 1024} KiB`));
  return complaints;
}

export function requireSandbox(simulate: Simulation | null, sandbox: boolean): Simulation | null {
  if (simulate === null || sandbox) return simulate;
  throw invalid([{ field: "simulate", error: "simulate is for test keys: a task of a live key is called" }]);
}

/** The time of a team's sandbox clock and its offset. */
export interface SandboxClock {
  readonly now: Date;
  readonly aheadSeconds: number;
}

/** The fields of a task that decide its next step. */
export interface Walk {
  readonly simulation: Simulation;
  /** For the attempt that begins or is active. */
  readonly trial: Trial & { readonly timeoutSeconds: number };
}

/** The duration of the attempt that begins now. */
export function attemptMs({ simulation, trial }: Walk): number {
  return isEarly(simulation, trial) || goesOn(simulation, trial.follow) ? 0 : simulation.afterSeconds * 1000;
}

/** Judges the active attempt. `waitMs`: until the next step, null if there is none. */
export function judgeSimulated(
  { simulation, trial }: Walk,
  now: Date,
  random: number,
): { readonly outcome: Outcome; readonly verdict: Verdict; readonly waitMs: number | null } {
  const outcome = outcomeOf(simulation, trial);
  if (outcome.kind === "response" && isSuccess(outcome.statusCode) && goesOn(simulation, trial.follow)) {
    const waitMs = Math.min(simulation.afterSeconds, longestWaitSeconds(trial.follow)) * 1000;
    const verdict: Verdict =
      trial.follow.pollConfig === null
        ? { kind: "waiting" }
        : { kind: "polling", plan: planNothing(trial.call.url) };
    return { outcome, verdict, waitMs };
  }
  const verdict = judge({ ...trial, follow: NO_FOLLOW_UP }, outcome, now, random);
  return { outcome, verdict, waitMs: verdict.kind === "retry" ? verdict.waitMs : null };
}

/** The end of a task that waits or is polled. */
export function endSimulated({ simulation, trial: { follow } }: Walk): {
  readonly kind: "completed" | "failed";
  readonly result: TaskResult | null;
  readonly error: string | null;
  readonly reason: FailureReason | null;
} {
  const mostSeconds = longestWaitSeconds(follow);
  if (simulation.afterSeconds <= mostSeconds)
    return { kind: "completed", result: resultOf(simulation), error: null, reason: null };
  return follow.pollConfig === null
    ? {
        kind: "failed",
        result: null,
        error: `No callback within ${mostSeconds} s`,
        reason: "callback_timeout",
      }
    : {
        kind: "failed",
        result: null,
        error: `Polling timed out after ${mostSeconds} s`,
        reason: "poll_timeout",
      };
}

/** The end of a task without simulation: it never starts. */
export function expireSimulated(expiresInSeconds: number | null): ReturnType<typeof endSimulated> {
  const error = `No attempt was begun within ${expiresInSeconds} s`;
  return { kind: "failed", result: null, error, reason: "expired" };
}

function outcomeOf(simulation: Simulation, trial: Walk["trial"]): Outcome {
  if (isEarly(simulation, trial)) return answer(EARLY, 500, 0);
  const durationMs = attemptMs({ simulation, trial });
  switch (simulation.outcome) {
    case "timeout":
      return {
        kind: "failure",
        code: "timeout",
        message: `The target did not answer within ${trial.timeoutSeconds} s`,
        phase: "sent",
        statusCode: null,
        durationMs,
      };
    case "fail":
      return answer(simulation, 500, durationMs);
    default:
      return answer(simulation, 200, durationMs);
  }
}

function answer(
  { responseCode, body }: Pick<Simulation, "responseCode" | "body">,
  fallback: number,
  durationMs: number,
): CallResponse {
  return {
    kind: "response",
    statusCode: responseCode ?? fallback,
    headers: {},
    body,
    truncated: false,
    durationMs,
  };
}

function resultOf({ responseCode, body, afterSeconds }: Simulation): TaskResult {
  return { statusCode: responseCode ?? 200, headers: {}, body, duration: afterSeconds * 1000 };
}

function isEarly({ attempts }: Simulation, { failures }: Pick<Trial, "failures">): boolean {
  return failures + 1 < attempts;
}

/** A 2xx is not the end for a task that waits, is polled, or is to be ended by a callback. */
function goesOn({ outcome }: Simulation, { pollConfig, waitForCallback }: FollowUp): boolean {
  return outcome === "callback" || (outcome === "complete" && (pollConfig !== null || waitForCallback));
}

function longestWaitSeconds({ pollConfig, maxWaitSeconds }: FollowUp): number {
  return pollConfig === null ? maxWaitSeconds : pollConfig.maxDuration;
}

/** A polled row needs a plan. This one is never used: no poll of a sandbox task is claimed. */
function planNothing(url: string): PollPlan {
  return { status: { url, headers: {}, withheld: [] }, result: null, fetching: false, state: FRESH_POLL };
}

function isSuccess(statusCode: number): boolean {
  return statusCode >= 200 && statusCode < 300;
}
