import { Problem, type ProblemDetail } from "./problem.ts";

/** A body with only invalid fields must not get a longer answer. */
export const MOST_DETAILS = 20;

/** Request values are repeated in answers only up to this length. */
const LONGEST_ECHO = 128;

/** The refusal for one or more broken rules; `error` describes the first. */
export function invalid(complaints: readonly ProblemDetail[]): Problem {
  const byField = new Map<string, ProblemDetail>();
  for (const complaint of complaints) {
    if (byField.size === MOST_DETAILS) break;
    if (!byField.has(complaint.field)) byField.set(complaint.field, complaint);
  }
  const details = [...byField.values()];
  const reason = details[0]?.error ?? "Request is not valid";
  return new Problem("invalid", { reason }, details.length > 1 ? { details } : {});
}

/** A field that breaks its rule. */
export function mustBe(field: string, rule: string): ProblemDetail {
  return { field, error: `${field} must be ${rule}` };
}

/** Two fields that exclude each other. */
export function notBoth(field: string, other: string): ProblemDetail {
  return { field, error: `Use either ${field} or ${other}, not both` };
}

export function echo(text: string): string {
  return text.length <= LONGEST_ECHO ? text : `${text.slice(0, LONGEST_ECHO)}…`;
}
