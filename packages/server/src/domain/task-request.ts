import { headerComplaints, type RefuseUrl, urlComplaint } from "./call.ts";
import { invalid, mustBe, notBoth } from "./complaint.ts";
import { dedupeComplaints } from "./dedupe.ts";
import { expiryComplaints } from "./expiry.ts";
import { flowComplaints, readFlow } from "./flow.ts";
import { parseInstant } from "./instant.ts";
import { namesCallback } from "./placeholders.ts";
import { completePollConfig, type OwnPollConfig, pollConfigComplaints } from "./poll/poll-rules.ts";
import type { ProblemDetail } from "./problem.ts";
import { readQueueName } from "./queue.ts";
import { textsOf } from "./same-request.ts";
import { simulationComplaints } from "./simulation.ts";
import { isStorable, STORABLE_RULE } from "./storable-text.ts";
import { metadataComplaints, tagComplaints } from "./tag-rules.ts";
import { requestOfDraft, type TaskDraft, type TaskRequest } from "./task-copies.ts";

/** Of a delay and of an exact time alike: 365 days. */
export const LONGEST_DELAY_SECONDS = 31_536_000;

/** Of a wait for a callback: 30 days. */
export const LONGEST_WAIT_SECONDS = 2_592_000;

/** Of the wait between two attempts: a day. */
export const LONGEST_RETRY_DELAY_SECONDS = 86_400;

/** ASCII, because the key may be in a header. */
export const IDEMPOTENCY_KEY_PATTERN = "^[ -~]{1,255}$";

export interface DraftContext {
  /** The caller's field names, for error messages. */
  readonly names: Readonly<Record<NamedField, string>>;
  readonly now: Date;
  readonly refuseUrl: RefuseUrl;
  /** The key from the request's header. */
  readonly idempotencyKey: string | undefined;
}

type NamedField =
  | "url"
  | "delaySeconds"
  | "runAt"
  | "expiresInSeconds"
  | "maxWaitSeconds"
  | "waitForCallback"
  | "provider"
  | "pollConfig"
  | "onCompleteUrl"
  | "onFailureUrl"
  | "idempotencyKey";

/** Creates a request from a draft by the rules beyond the schema, or refuses it with every broken rule. */
export function checkDraft(draft: TaskDraft, context: DraftContext): TaskRequest {
  const { names, now, idempotencyKey = draft.idempotencyKey } = context;
  const runAt = draft.runAt === null ? null : parseInstant(draft.runAt);
  const complaints = callComplaints(draft, context);
  if (draft.runAt !== null) complaints.push(...timeComplaints(draft, runAt, context));
  if (draft.expiresInSeconds !== null) complaints.push(...expiryComplaints(draft, runAt, names, now));
  complaints.push(...followUpComplaints(draft, names));
  if (draft.pollConfig !== null)
    complaints.push(...ownPollComplaints(draft.pollConfig, draft.call.url, context.refuseUrl));
  for (const field of ["onCompleteUrl", "onFailureUrl"] as const) {
    const receiver = draft[field];
    const unreachable = receiver === null ? null : urlComplaint(names[field], receiver, context.refuseUrl);
    if (unreachable !== null) complaints.push(unreachable);
  }
  if (draft.dedupe !== null) complaints.push(...dedupeComplaints({ ...draft, dedupe: draft.dedupe }, names));
  if (draft.simulate !== null) complaints.push(...simulationComplaints(draft.simulate, draft.shape));
  if (draft.flow !== null) complaints.push(...flowComplaints(draft.flow));
  if (draft.tags !== null) complaints.push(...tagComplaints(draft.tags));
  if (draft.metadata !== null) complaints.push(...metadataComplaints(draft.metadata));
  if (draft.idempotencyKey !== null && draft.idempotencyKey !== idempotencyKey)
    complaints.push(mustBe(names.idempotencyKey, "the same as the header Idempotency-Key"));
  if (complaints.length > 0) throw invalid(complaints);
  const request = requestOfDraft(draft, {
    queue: readQueueName(draft.queue),
    // The past means now, and only the database knows the current time.
    runAt: runAt !== null && runAt > now ? runAt : null,
    pollConfig: draft.pollConfig && completePollConfig(draft.pollConfig),
    waitForCallback: draft.waitForCallback ?? isToBeAwaited(draft),
    flow: draft.flow === null ? null : readFlow(draft.flow),
    idempotencyKey,
  });
  if (idempotencyKey === null) return request;
  // Without the key, which may be in either place; with the requested time, however long ago it is.
  return { ...request, ...textsOf({ ...request, idempotencyKey: null, runAt, message: undefined }) };
}

export function callComplaints(
  { shape, call, bodyIsJson }: Pick<TaskDraft, "shape" | "call" | "bodyIsJson">,
  { names, refuseUrl }: { readonly names: { readonly url: string }; readonly refuseUrl: RefuseUrl },
): ProblemDetail[] {
  const complaints: ProblemDetail[] = [];
  // JSON is kept as written: such characters are escapes in it.
  const isText = shape === "direct" && !bodyIsJson;
  if (isText && call.body !== null && !isStorable(call.body)) complaints.push(mustBe("body", STORABLE_RULE));
  const unreachable = urlComplaint(names.url, call.url, refuseUrl);
  if (unreachable !== null) complaints.push(unreachable);
  return [...complaints, ...headerComplaints(call.headers)];
}

function timeComplaints(
  { delaySeconds }: TaskDraft,
  runAt: Date | null,
  { names, now }: DraftContext,
): ProblemDetail[] {
  if (delaySeconds !== null) return [notBoth(names.delaySeconds, names.runAt)];
  if (runAt === null)
    return [mustBe(names.runAt, "an ISO 8601 time with a zone, such as 2030-01-31T09:00:00Z")];
  const isTooFar = runAt.getTime() - now.getTime() > LONGEST_DELAY_SECONDS * 1000;
  return isTooFar ? [mustBe(names.runAt, "at most 1 year ahead")] : [];
}

/** A task with a callback placeholder expects a callback: the 2xx to the call is not its end. */
function isToBeAwaited({ call, provider, pollConfig }: TaskDraft): boolean {
  return provider === null && pollConfig === null && namesCallback(call);
}

/** Only one kind of follow-up is allowed. */
function followUpComplaints(
  { provider, pollConfig, waitForCallback }: TaskDraft,
  names: DraftContext["names"],
): ProblemDetail[] {
  const complaints: ProblemDetail[] = [];
  if (provider !== null && pollConfig !== null) complaints.push(notBoth(names.provider, names.pollConfig));
  if (waitForCallback === true && provider !== null)
    complaints.push(notBoth(names.waitForCallback, names.provider));
  if (waitForCallback === true && pollConfig !== null)
    complaints.push(notBoth(names.waitForCallback, names.pollConfig));
  return complaints;
}

/** The configuration is stored with every task: one that cannot be stored must not reach the database. */
function ownPollComplaints(own: OwnPollConfig, firstCallUrl: string, refuseUrl: RefuseUrl): ProblemDetail[] {
  const unstorable = Object.entries(own)
    .filter(([, value]) => [value].flat().some((part) => typeof part === "string" && !isStorable(part)))
    .map(([field]) => mustBe(field, STORABLE_RULE));
  return [...unstorable, ...pollConfigComplaints(own, firstCallUrl, refuseUrl)];
}
