import type { RefuseUrl } from "../call.ts";
import { forbiddenHeader, isHeaderName } from "../header.ts";
import type { ProblemDetail } from "../problem.ts";
import { POLL_DEFAULTS, type PollConfig } from "./poll-config.ts";
import { templateComplaint } from "./poll-template.ts";

/** Size limits of a configuration: it is copied into the row of every task that uses it. */
export const POLL_LIMITS = {
  template: 2048,
  path: 256,
  values: 50,
  value: 256,
  headers: 16,
  header: 128,
  minInterval: 1,
  maxInterval: 3600,
  minDuration: 1,
  maxDuration: 86_400,
} as const;

/** A configuration as written: fields with a default may be omitted. */
export type OwnPollConfig = Omit<PollConfig, keyof typeof POLL_DEFAULTS> &
  Partial<Pick<PollConfig, keyof typeof POLL_DEFAULTS>>;

export function completePollConfig(own: OwnPollConfig): PollConfig {
  return { ...POLL_DEFAULTS, ...own };
}

/**
 * The rules beyond types and sizes. `firstCallUrl` is omitted if it is unknown: in the operator's own catalog entries.
 * `refuseUrl` is the egress policy: otherwise a refused host would be detected only after a paid first call.
 */
export function pollConfigComplaints(
  own: OwnPollConfig,
  firstCallUrl?: string,
  refuseUrl: RefuseUrl = () => null,
): ProblemDetail[] {
  const complaints: ProblemDetail[] = [];
  const complain = (field: string, complaint: string) =>
    complaints.push({ field, error: `${field} ${complaint}` });
  for (const field of ["urlTemplate", "resultUrlTemplate", "cancelUrlTemplate"] as const) {
    const template = own[field];
    const complaint = template === undefined ? null : templateComplaint(template, firstCallUrl, refuseUrl);
    if (complaint !== null) complain(field, complaint);
  }
  const both = own.failValues.find((value) => own.doneValues.includes(value));
  if (both !== undefined) complain("failValues", `must not repeat "${both}" of doneValues`);
  const badHeader = own.forwardHeaders?.find((name) => !isHeaderName(name) || forbiddenHeader(name));
  if (badHeader !== undefined) {
    complain("forwardHeaders", `has "${badHeader}", which is not a header that can be forwarded`);
  }
  return complaints;
}
