// Reads the fields of a request. The schema has checked types and lengths; these are the rules between fields.
import { type RefuseUrl, urlComplaint } from "../../domain/call.ts";
import { mustBe } from "../../domain/complaint.ts";
import { readEmail } from "../../domain/identity/email.ts";
import type { ProblemDetail } from "../../domain/problem.ts";
import {
  type AlertCondition,
  type AlertKind,
  CHANNEL_KINDS,
  FOR,
  KIND_RULES,
  type NewChannel,
  WITHIN,
} from "./domain.ts";

/** Null is the same as absent. */
export interface GivenCondition {
  readonly kind: AlertKind;
  readonly queue?: string | null;
  readonly threshold?: number | null;
  readonly within?: number | null;
  readonly for?: number | null;
}

/** The condition with its defaults, and every rule that it breaks. */
export function readCondition(given: GivenCondition): {
  readonly when: AlertCondition;
  readonly complaints: readonly ProblemDetail[];
} {
  const { kind } = given;
  const rules = KIND_RULES[kind];
  const { threshold: bounds } = rules;
  const queue = given.queue ?? null;
  const threshold = given.threshold ?? bounds?.default ?? null;
  const within = given.within ?? (rules.hasWithin ? WITHIN.default : null);
  const complaints: ProblemDetail[] = [];
  const refuse = (field: string, error: string) => complaints.push({ field, error: `${field} ${error}` });
  if (queue !== null && !rules.hasQueue) refuse("when.queue", `is not used by ${kind}: leave it out`);
  if (within !== null && !rules.hasWithin) refuse("when.within", `is not used by ${kind}: leave it out`);
  if (bounds === null) {
    if (threshold !== null) refuse("when.threshold", `is not used by ${kind}: leave it out`);
  } else if (threshold === null) refuse("when.threshold", `is required for ${kind}`);
  else if (threshold < bounds.least || threshold > bounds.most || (bounds.isWhole && threshold % 1 !== 0)) {
    const unit = bounds.isWhole ? "a whole number" : "a percentage";
    complaints.push(mustBe("when.threshold", `${unit} from ${bounds.least} to ${bounds.most} for ${kind}`));
  }
  return { when: { kind, queue, threshold, within, for: given.for ?? FOR.default }, complaints };
}

export type GivenChannel = Readonly<Partial<Record<(typeof CHANNEL_KINDS)[number], string | null>>>;

/** The end of the shown form of a Slack URL. */
const CUT = /…$/;

/** `canMail` is false if the server has no mail server; then no address is accepted. */
export function readChannels(
  given: readonly GivenChannel[],
  { refuseUrl, canMail }: { readonly refuseUrl: RefuseUrl; readonly canMail: boolean },
): { readonly notify: readonly NewChannel[]; readonly complaints: readonly ProblemDetail[] } {
  const notify: NewChannel[] = [];
  const complaints: ProblemDetail[] = [];
  for (const [index, channel] of given.entries()) {
    const field = `notify[${index}]`;
    const kinds = CHANNEL_KINDS.filter((kind) => typeof channel[kind] === "string");
    const [kind] = kinds;
    if (kind === undefined || kinds.length > 1) {
      complaints.push({ field, error: `${field} must have exactly one of email, url and slack_url` });
      continue;
    }
    const read = readTarget(`${field}.${kind}`, kind, channel[kind] ?? "", { refuseUrl, canMail });
    if ("error" in read) complaints.push(read);
    else if (
      notify.some((other) => other.kind === kind && other.target === read.target && !isShownForm(other))
    )
      complaints.push({ field: `${field}.${kind}`, error: `${field}.${kind} is given twice` });
    else notify.push({ kind, target: read.target });
  }
  return { notify, complaints };
}

function readTarget(
  field: string,
  kind: NewChannel["kind"],
  text: string,
  { refuseUrl, canMail }: { readonly refuseUrl: RefuseUrl; readonly canMail: boolean },
): { readonly target: string } | ProblemDetail {
  if (kind === "email") {
    if (!canMail)
      return { field, error: `${field} cannot be used: the server has no mail server (BELLHOP_SMTP_URL)` };
    const target = readEmail(text);
    return target === null ? mustBe(field, "an email address") : { target };
  }
  // The service looks for a stored one with this shown form.
  if (kind === "slack_url" && CUT.test(text) && URL.canParse(text)) return { target: text };
  return urlComplaint(field, text, refuseUrl) ?? { target: text };
}

export function isShownForm({ kind, target }: NewChannel): boolean {
  return kind === "slack_url" && CUT.test(target);
}
