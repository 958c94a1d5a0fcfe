import type { Claim } from "../domain/claim.ts";
import { type Limits, within } from "../domain/limits.ts";
import type { CallResponse, Outcome } from "../domain/outcome.ts";
import { startPaths } from "../domain/poll/poll-plan.ts";
import { LONGEST_POLL_URL } from "../domain/poll/poll-template.ts";
import type { Settlement } from "../domain/settlement.ts";
import type { Time } from "../domain/time.ts";
import { closeAttempt, type Verdict } from "../domain/verdict.ts";
import type { JsonGate } from "../json/gate.ts";
import { fitResult, type HasRoom } from "./fit-result.ts";
import type { HostAttempts } from "./host-attempts.ts";
import { followersOf, judgeMessage, type MessageCalls } from "./message-calls.ts";
import type { Refused } from "./outgoing.ts";

interface Judging {
  readonly messages: MessageCalls;
  readonly time: Time;
  readonly random: () => number;
  readonly hasRoom?: HasRoom | undefined;
}

/** Judges within the limits of the team's current plan. */
export function judgeWithin(
  { messages, time, random, hasRoom }: Judging,
  limits: Limits,
  claim: Claim,
  outcome: Outcome,
): Verdict {
  const maxRetries = within(limits, "retries", claim.maxRetries);
  const trial = maxRetries === claim.maxRetries ? claim : { ...claim, maxRetries };
  const verdict = judgeMessage(messages, trial, outcome, new Date(time.nowMs()), random());
  const leastMs = (limits.retryDelaySeconds ?? 0) * 1000;
  const delayed =
    verdict.kind === "retry" && verdict.waitMs < leastMs ? { ...verdict, waitMs: leastMs } : verdict;
  return fitResult(delayed, claim.teamId, limits, hasRoom);
}

/** What is stored of the attempt, and with it. */
export function settlementOf(
  deps: Pick<Judging, "messages" | "hasRoom"> & {
    readonly limitsOf: (teamId: number) => Limits;
    readonly hosts?: Pick<HostAttempts, "report"> | undefined;
  },
  claim: Claim,
  outcome: Outcome,
  verdict: Verdict,
): Settlement {
  return {
    claim,
    attempt: closeAttempt(claim.attempt, claim.attemptStartedAt, outcome),
    verdict,
    followers: followersOf(deps.messages, deps, claim, outcome, verdict),
    report: deps.hosts?.report(claim, outcome) ?? null,
  };
}

/** Extracts the values that polling needs from the answer to the first call. */
export async function lookInto(
  json: Pick<JsonGate, "lookUp">,
  limits: Limits,
  { teamId, follow }: Claim,
  answer: CallResponse,
): Promise<Outcome> {
  const paths = follow.pollConfig === null ? [] : startPaths(follow.pollConfig);
  const found = await json.lookUp(teamId, answer.body, paths, LONGEST_POLL_URL * 4, limits);
  return { ...answer, found };
}

/** The outcome of a call that can never be made. */
export function refusedOutcome({ error: message }: Refused): Outcome {
  return { kind: "failure", code: "blocked", message, phase: "not_sent", statusCode: null, durationMs: 0 };
}

/** A call that can never be made is not retried. */
export function refusedVerdict({ reason, error }: Refused): Verdict {
  return { kind: "failed", reason, error, result: null };
}
