import { headerComplaints, type RefuseUrl, urlComplaint } from "./call.ts";
import { echo, invalid, mustBe, notBoth } from "./complaint.ts";
import { expiryComplaints } from "./expiry.ts";
import { parseInstant } from "./instant.ts";
import type { Terms } from "./limits.ts";
import { namesCallback } from "./placeholders.ts";
import { requireWithinPlan, withinPlan } from "./plan-rules.ts";
import type { PollConfig, Provider } from "./poll/poll-config.ts";
import { completePollConfig, type OwnPollConfig, pollConfigComplaints } from "./poll/poll-rules.ts";
import { Problem, type ProblemDetail } from "./problem.ts";
import { readQueueName } from "./queue.ts";
import { type Reach, reachOf } from "./reach.ts";
import { type RequestTexts, textsOf } from "./same-request.ts";
import { requireSandbox, simulationComplaints } from "./simulation.ts";
import { isStorable, STORABLE_RULE } from "./storable-text.ts";
import { metadataComplaints, tagComplaints } from "./tag-rules.ts";
import type { FollowUp, NewTask, StoredCallback, TaskTerms } from "./task.ts";
import { MOST_REFERENCES, type VaultReference, vaultMentions, vaultReferences } from "./vault-token.ts";

/** Of a delay and of an exact time alike: 365 days. */
export const LONGEST_DELAY_SECONDS = 31_536_000;

/** Of a wait for a callback: 30 days. */
export const LONGEST_WAIT_SECONDS = 2_592_000;

/** Of the wait between two attempts: a day. */
export const LONGEST_RETRY_DELAY_SECONDS = 86_400;

/** ASCII, because a header cannot carry more, and the key may come in either place. */
export const IDEMPOTENCY_KEY_PATTERN = "^[ -~]{1,255}$";

/** What a caller asks for. `provider` is a catalog id, `pollConfig` a configuration of the caller's own; never both. */
export interface TaskRequest extends TaskTerms, RequestTexts {
  readonly provider: string | null;
  readonly pollConfig: PollConfig | null;
  readonly waitForCallback: boolean;
  readonly maxWaitSeconds: number;
  readonly idempotencyKey: string | null;
}

/** A request as it was written: each value is of the right type and size, and nothing else is known of it yet. */
export interface TaskDraft
  extends Omit<
    TaskRequest,
    keyof RequestTexts | "delaySeconds" | "runAt" | "pollConfig" | "waitForCallback"
  > {
  readonly delaySeconds: number | null;
  readonly waitForCallback: boolean | null;
  readonly runAt: string | null;
  readonly pollConfig: OwnPollConfig | null;
}

export interface DraftContext {
  /** How the caller wrote each field: complaints must name what was sent. */
  readonly names: Readonly<Record<NamedField, string>>;
  readonly now: Date;
  readonly refuseUrl: RefuseUrl;
  /** The key that came beside the request, in its header. */
  readonly idempotencyKey: string | undefined;
}

type NamedField =
  | "url"
  | "delaySeconds"
  | "runAt"
  | "expiresInSeconds"
  | "waitForCallback"
  | "provider"
  | "pollConfig"
  | "onCompleteUrl"
  | "idempotencyKey";

/** Makes a request of a draft by the rules that no schema can say, or refuses it with every rule that it breaks. */
export function checkDraft(draft: TaskDraft, context: DraftContext): TaskRequest {
  const { names, now, idempotencyKey = draft.idempotencyKey } = context;
  const runAt = draft.runAt === null ? null : parseInstant(draft.runAt);
  const complaints = callComplaints(draft, context);
  if (draft.runAt !== null) complaints.push(...timeComplaints(draft, runAt, context));
  if (draft.expiresInSeconds !== null) complaints.push(...expiryComplaints(draft, runAt, names, now));
  complaints.push(...followUpComplaints(draft, names));
  if (draft.pollConfig !== null)
    complaints.push(...ownPollComplaints(draft.pollConfig, draft.call.url, context.refuseUrl));
  const receiver = draft.onCompleteUrl;
  const unreachable =
    receiver === null ? null : urlComplaint(names.onCompleteUrl, receiver, context.refuseUrl);
  if (unreachable !== null) complaints.push(unreachable);
  if (draft.simulate !== null) complaints.push(...simulationComplaints(draft.simulate, draft.shape));
  if (draft.tags !== null) complaints.push(...tagComplaints(draft.tags));
  if (draft.metadata !== null) complaints.push(...metadataComplaints(draft.metadata));
  if (draft.idempotencyKey !== null && draft.idempotencyKey !== idempotencyKey)
    complaints.push(mustBe(names.idempotencyKey, "the same as the header Idempotency-Key"));
  if (complaints.length > 0) throw invalid(complaints);
  // Every property by name: V8 gives each copy of a draft that grows by one property a hidden class of its own, and
  // whatever reads such a request later finds none of its properties where it found them in the last one.
  const request = {
    shape: draft.shape,
    queue: readQueueName(draft.queue),
    call: draft.call,
    priority: draft.priority,
    onCompleteUrl: draft.onCompleteUrl,
    bodyIsJson: draft.bodyIsJson,
    sign: draft.sign,
    tags: draft.tags,
    metadata: draft.metadata,
    expiresInSeconds: draft.expiresInSeconds,
    retryDelaySeconds: draft.retryDelaySeconds,
    retryMaxDelaySeconds: draft.retryMaxDelaySeconds,
    noRetryStatuses: draft.noRetryStatuses,
    maxRetries: draft.maxRetries,
    backoff: draft.backoff,
    timeoutSeconds: draft.timeoutSeconds,
    delaySeconds: draft.delaySeconds ?? 0,
    // The past means now, and only the database knows when now is.
    runAt: runAt !== null && runAt > now ? runAt : null,
    provider: draft.provider,
    pollConfig: draft.pollConfig && completePollConfig(draft.pollConfig),
    waitForCallback: draft.waitForCallback ?? isToBeAwaited(draft),
    maxWaitSeconds: draft.maxWaitSeconds,
    simulate: draft.simulate,
    idempotencyKey,
    requestText: "",
    bareText: null,
  };
  if (idempotencyKey === null) return request;
  // Not the key, which may come in either place; and the time as it was asked for, however long ago that is by now.
  return { ...request, ...textsOf({ ...request, idempotencyKey: null, runAt }) };
}

function callComplaints(
  { shape, call, bodyIsJson }: TaskDraft,
  { names, refuseUrl }: DraftContext,
): ProblemDetail[] {
  const complaints: ProblemDetail[] = [];
  // JSON is kept as it was written: such characters are escapes in it.
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

/** A third party that is told where to answer is expected to: the 2xx to the call is not the end then. */
function isToBeAwaited({ call, provider, pollConfig }: TaskDraft): boolean {
  return provider === null && pollConfig === null && namesCallback(call);
}

/** There is one way to go on after the first call. */
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

/** It is kept with every task: one that cannot be stored must not get as far as the database. */
function ownPollComplaints(own: OwnPollConfig, firstCallUrl: string, refuseUrl: RefuseUrl): ProblemDetail[] {
  const unstorable = Object.entries(own)
    .filter(([, value]) => [value].flat().some((part) => typeof part === "string" && !isStorable(part)))
    .map(([field]) => mustBe(field, STORABLE_RULE));
  return [...unstorable, ...pollConfigComplaints(own, firstCallUrl, refuseUrl)];
}

/** Whose task it will be. */
export interface TaskOrigin extends Pick<NewTask, "teamId" | "sandbox"> {
  readonly idempotency: { readonly key: string; readonly requestHash: string } | null;
  /** What the team may ask for. */
  readonly terms: Terms;
  /** Refuses if the task's creator may not have vault tokens sent. */
  readonly requireTokenUse: () => void;
}

export type FindProvider = (id: string) => Provider | null;

/** What acceptance must be given: the domain has neither database, nor randomness, nor the vault's key. */
export interface AcceptanceDeps {
  readonly findProvider: FindProvider;
  /** Refuses references to vault tokens that no call to this URL could be made with. */
  readonly checkReferences: (
    reach: Reach,
    references: readonly VaultReference[],
    url: string,
  ) => Promise<void>;
  /** Refuses text that has the id of a vault token in it which could be named instead. */
  readonly refuseMentions: (reach: Reach, mentions: readonly VaultReference[]) => Promise<void>;
  readonly newTaskId: () => string;
  readonly newCallback: (teamId: number, taskId: string, use: CallbackUse) => NewCallback;
}

/** Why its id must be readable later. */
export interface CallbackUse {
  /** The call names it, and must be able to after a crash, on any node. */
  readonly isNamed: boolean;
  /** A repeated request is to be told it again, if that can be. */
  readonly isRepeatable: boolean;
}

export interface NewCallback extends StoredCallback {
  /** To be told to the task's creator alone. */
  readonly id: string;
}

/**
 * Makes a task of a request whose own rules have been checked: of a caller's, of one in a batch, or of one that is due
 * again by a timetable. What it refers to is looked up now, for it may have gone since the request was written.
 */
export async function acceptRequest(
  request: TaskRequest,
  { teamId, sandbox, idempotency, terms, requireTokenUse }: TaskOrigin,
  deps: AcceptanceDeps,
): Promise<{ readonly task: NewTask; readonly callback: NewCallback | null }> {
  const { call, shape } = request;
  requireWithinPlan(request, terms);
  const follow = withinPlan(followUpOf(request, deps.findProvider), terms.limits);
  const references = vaultReferences(call.headers);
  if (references.length > MOST_REFERENCES)
    throw invalid([{ field: "headers", error: `headers must name at most ${MOST_REFERENCES} vault tokens` }]);
  if (references.length > 0) {
    requireTokenUse();
    await deps.checkReferences(reachOf(teamId, sandbox), references, call.url);
  }
  const mentions = vaultMentions(call.headers);
  if (mentions.length > 0) await deps.refuseMentions(reachOf(teamId, sandbox), mentions);
  const id = deps.newTaskId();
  const isAwaited = follow.waitForCallback || follow.pollConfig !== null;
  // In a call that no callback is awaited for, a placeholder is text like any other.
  const isNamed = isAwaited && namesCallback(call);
  const isRepeatable = idempotency !== null;
  const callback =
    isAwaited || shape === "direct" ? deps.newCallback(teamId, id, { isNamed, isRepeatable }) : null;
  // Every property by name, for every task: a literal costs a tenth of a spread.
  const task = {
    teamId,
    id,
    shape,
    queue: request.queue,
    call,
    priority: request.priority,
    onCompleteUrl: request.onCompleteUrl,
    bodyIsJson: request.bodyIsJson,
    sign: request.sign,
    tags: request.tags,
    metadata: request.metadata,
    expiresInSeconds: request.expiresInSeconds,
    maxRetries: request.maxRetries,
    backoff: request.backoff,
    retryDelaySeconds: request.retryDelaySeconds,
    retryMaxDelaySeconds: request.retryMaxDelaySeconds,
    noRetryStatuses: request.noRetryStatuses,
    timeoutSeconds: request.timeoutSeconds,
    delaySeconds: request.delaySeconds,
    runAt: request.runAt,
    simulate: requireSandbox(request.simulate, sandbox),
    follow,
    sandbox,
    callback: callback && { hash: callback.hash, sealed: isNamed ? callback.sealed : null },
    idempotency: idempotency && { ...idempotency, callbackSealed: callback?.sealed ?? null },
  };
  return { task, callback };
}

/** What will be polled is decided here: the caller's own configuration, or what the provider's entry says now. */
export function followUpOf(request: TaskRequest, findProvider: FindProvider): FollowUp {
  const { provider, pollConfig, waitForCallback, maxWaitSeconds } = request;
  if (provider === null) return { provider, pollConfig, waitForCallback, maxWaitSeconds };
  const entry = findProvider(provider);
  if (entry === null) throw new Problem("provider_unknown", { id: echo(provider) });
  return { provider, pollConfig: entry.pollConfig, waitForCallback, maxWaitSeconds };
}
