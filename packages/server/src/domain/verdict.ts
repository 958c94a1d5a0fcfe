import { type Backoff, backoffMs, retryAfterMs } from "./backoff.ts";
import type { Call } from "./call.ts";
import { errorExcerpt } from "./error-excerpt.ts";
import type { CallResponse, Outcome } from "./outcome.ts";
import { type PollPlan, planPolling } from "./poll/poll-plan.ts";
import type { Attempt, FailureReason, FollowUp, TaskResult } from "./task.ts";

/** The decision about an outcome. */
export type Verdict =
  | { readonly kind: "completed"; readonly result: TaskResult }
  /** `isAsked`: the delay comes from the target's Retry-After. */
  | { readonly kind: "retry"; readonly waitMs: number; readonly error: string; readonly isAsked?: true }
  /** The first call was accepted; a callback will end the task. */
  | { readonly kind: "waiting" }
  /** The first call was accepted; the job is polled. */
  | { readonly kind: "polling"; readonly plan: PollPlan }
  | {
      readonly kind: "failed";
      readonly reason: FailureReason;
      readonly error: string;
      readonly result: TaskResult | null;
    };

/** The task's data for the decision. `failures` counts the attempts that consumed a retry, without this one. */
export interface Trial {
  readonly failures: number;
  readonly maxRetries: number;
  readonly backoff: Backoff;
  readonly retryDelaySeconds: number;
  readonly retryMaxDelaySeconds: number | null;
  readonly noRetryStatuses: readonly number[] | null;
  readonly call: Pick<Call, "url" | "headers">;
  readonly follow: FollowUp;
}

/** `now` and `random` are parameters, so that the function is pure. */
export function judge(trial: Trial, outcome: Outcome, now: Date, random: number): Verdict {
  if (outcome.kind === "response" && isSuccess(outcome.statusCode)) {
    return accepted(trial, outcome);
  }
  const error = describe(outcome);
  // A refusal by our own policy: the next attempt would meet it again.
  if (outcome.kind === "failure" && outcome.code === "blocked")
    return { kind: "failed", reason: "blocked", error, result: null };
  if (outcome.kind === "response" && isFinal(trial, outcome)) {
    return { kind: "failed", reason: "not_retryable", error, result: toResult(outcome) };
  }
  const failures = trial.failures + 1;
  if (failures > trial.maxRetries) {
    const result = outcome.kind === "response" ? toResult(outcome) : null;
    return { kind: "failed", reason: "retries_exhausted", error, result };
  }
  const askedMs = askedWaitMs(outcome, now);
  if (askedMs !== null) return { kind: "retry", waitMs: askedMs, error, isAsked: true };
  const { backoff, retryDelaySeconds, retryMaxDelaySeconds } = trial;
  const waitMs = backoffMs(backoff, failures, retryDelaySeconds, random, retryMaxDelaySeconds);
  return { kind: "retry", waitMs, error };
}

function accepted({ call, follow }: Trial, response: CallResponse): Verdict {
  if (follow.waitForCallback) return { kind: "waiting" };
  if (follow.pollConfig === null) return { kind: "completed", result: toResult(response) };
  const planned = planPolling(follow.provider, follow.pollConfig, response, call);
  if (planned.ok) return { kind: "polling", plan: planned.plan };
  return { kind: "failed", reason: "poll_failed", error: planned.message, result: toResult(response) };
}

/** The attempt as it is recorded, closed. */
export function closeAttempt(number: number, executedAt: Date, outcome: Outcome): Attempt {
  if (outcome.kind === "response") {
    const success = isSuccess(outcome.statusCode);
    return {
      number,
      status: success ? "success" : "failed",
      responseCode: outcome.statusCode,
      executedAt,
      durationMs: outcome.durationMs,
      connectMs: connectMsOf(outcome),
      firstByteMs: firstByteMsOf(outcome),
      phase: "responded",
      error: success ? null : describe(outcome),
    };
  }
  return {
    number,
    status:
      outcome.code === "timeout" || outcome.code === "connect_timeout"
        ? "timeout"
        : attemptStatus(outcome.code),
    responseCode: outcome.statusCode,
    executedAt,
    durationMs: outcome.durationMs,
    connectMs: connectMsOf(outcome),
    firstByteMs: firstByteMsOf(outcome),
    phase: outcome.phase,
    error: outcome.message,
  };
}

/** Not stored if the connection was already open. */
function connectMsOf({ connectMs = 0 }: Outcome): number | undefined {
  return connectMs > 0 ? connectMs : undefined;
}

/** Not stored if the body arrived with its headers. */
function firstByteMsOf({ durationMs, firstByteMs = durationMs }: Outcome): number | undefined {
  return firstByteMs < durationMs ? firstByteMs : undefined;
}

function attemptStatus(code: string): "blocked" | "failed" {
  return code === "blocked" ? "blocked" : "failed";
}

export function isSuccess(statusCode: number): boolean {
  return statusCode >= 200 && statusCode < 300;
}

/** The answer to the first call begins a job that is polled. */
export function isToBePolled({ follow }: Trial, outcome: Outcome): outcome is CallResponse {
  return follow.pollConfig !== null && outcome.kind === "response" && isSuccess(outcome.statusCode);
}

/** The task or its target rules out another attempt. */
function isFinal({ noRetryStatuses }: Trial, { statusCode, headers }: CallResponse): boolean {
  return (
    noRetryStatuses?.includes(statusCode) === true ||
    saysWord(headers["bellhop-no-retry"], "true") ||
    saysWord(headers["webhook-delivery"], "abort-message")
  );
}

function saysWord(header: string | undefined, word: string): boolean {
  return header !== undefined && header.trim().toLowerCase() === word;
}

/** A busy target may set the delay; only these two statuses mean that. */
export function askedWaitMs(outcome: Outcome, now: Date): number | null {
  if (outcome.kind !== "response") return null;
  if (outcome.statusCode !== 429 && outcome.statusCode !== 503) return null;
  return retryAfterMs(outcome.headers["retry-after"], now);
}

/** With the target's own words, where it has any. */
function describe(outcome: Outcome): string {
  if (outcome.kind === "failure") return outcome.message;
  const excerpt = errorExcerpt(outcome.body);
  const said = `The target answered ${outcome.statusCode}`;
  return excerpt === null ? said : `${said}: ${excerpt}`;
}

function toResult(response: Extract<Outcome, { kind: "response" }>): TaskResult {
  const { statusCode, headers, body, durationMs } = response;
  const result = { statusCode, headers, body, duration: durationMs };
  return response.truncated ? { ...result, truncated: true } : result;
}
