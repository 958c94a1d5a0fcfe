import type { Claim } from "../domain/claim.ts";
import { type Limits, within } from "../domain/limits.ts";
import type { CallResponse, Outcome } from "../domain/outcome.ts";
import { startPaths } from "../domain/poll/poll-plan.ts";
import { LONGEST_POLL_URL } from "../domain/poll/poll-template.ts";
import type { Verdict } from "../domain/verdict.ts";
import type { JsonGate } from "../json/gate.ts";
import { judgeMessage, type MessageCalls } from "./message-calls.ts";

/** Judges within the limits of the team's current plan. */
export function judgeWithin(
  messages: MessageCalls,
  limits: Limits,
  claim: Claim,
  outcome: Outcome,
  now: Date,
  random: number,
): Verdict {
  const maxRetries = within(limits, "retries", claim.maxRetries);
  const trial = maxRetries === claim.maxRetries ? claim : { ...claim, maxRetries };
  const verdict = judgeMessage(messages, trial, outcome, now, random);
  if (verdict.kind !== "retry" || limits.retryDelaySeconds === null) return verdict;
  return { ...verdict, waitMs: Math.max(verdict.waitMs, limits.retryDelaySeconds * 1000) };
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

/** Of a call that can never be made. */
export function refusedOutcome(message: string): Outcome {
  return { kind: "failure", code: "blocked", message, phase: "not_sent", statusCode: null, durationMs: 0 };
}
