import { invalid } from "./complaint.ts";
import { type Limits, limitComplaint, type Terms, within } from "./limits.ts";
import type { PollConfig } from "./poll/poll-config.ts";
import type { FollowUp, TaskTerms } from "./task.ts";

/** Refuses a task that exceeds its team's plan. */
export function requireWithinPlan(
  {
    shape,
    maxRetries,
    timeoutSeconds,
    pollConfig,
  }: Pick<TaskTerms, "shape" | "maxRetries" | "timeoutSeconds"> & { readonly pollConfig: PollConfig | null },
  terms: Terms,
): void {
  const complaints = [
    limitComplaint(terms, "timeoutSeconds", "timeout", timeoutSeconds),
    limitComplaint(terms, "retries", shape === "queue" ? "max_retries" : "maxRetries", maxRetries),
    limitComplaint(terms, "pollIntervalSeconds", "interval", pollConfig?.interval),
    limitComplaint(terms, "pollDurationSeconds", "maxDuration", pollConfig?.maxDuration),
  ].filter((complaint) => complaint !== null);
  if (complaints.length > 0) throw invalid(complaints);
}

/** The caller did not choose the values of a catalog entry: they are adjusted to the plan instead of refused. */
export function withinPlan(follow: FollowUp, limits: Limits): FollowUp {
  const config = follow.pollConfig;
  if (config === null || follow.provider === null) return follow;
  const interval = within(limits, "pollIntervalSeconds", config.interval);
  const maxDuration = within(limits, "pollDurationSeconds", config.maxDuration);
  return { ...follow, pollConfig: { ...config, interval, maxDuration } };
}
