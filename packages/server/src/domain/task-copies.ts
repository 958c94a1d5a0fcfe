import type { AskedFlow } from "./flow.ts";
import type { PollConfig } from "./poll/poll-config.ts";
import type { OwnPollConfig } from "./poll/poll-rules.ts";
import type { RequestTexts } from "./same-request.ts";
import {
  type CreatedTask,
  MAX_WAIT_DEFAULT_SECONDS,
  type NewTask,
  PRIORITY_DEFAULT,
  type Task,
  type TaskSettings,
  type TaskTerms,
} from "./task.ts";

/*
 * The forms of a task from its request to its record. Every property by name: these run for every task, a literal costs a
 * tenth of a spread, and V8 gives each object that grows by a property its own hidden class, which slows down every
 * later read. So a new field is passed on in this file alone.
 */

/** A caller's request. `provider` is a catalog id, `pollConfig` the caller's own configuration; never both. */
export interface TaskRequest extends TaskTerms, RequestTexts {
  readonly provider: string | null;
  readonly pollConfig: PollConfig | null;
  readonly waitForCallback: boolean;
  readonly maxWaitSeconds: number;
  readonly idempotencyKey: string | null;
}

/** A request as written: each value has the right type and size, and no other rule is checked yet. */
export interface TaskDraft
  extends Omit<
    TaskRequest,
    keyof RequestTexts | "delaySeconds" | "runAt" | "pollConfig" | "waitForCallback" | "message" | "flow"
  > {
  readonly delaySeconds: number | null;
  readonly waitForCallback: boolean | null;
  readonly runAt: string | null;
  readonly pollConfig: OwnPollConfig | null;
  readonly flow: AskedFlow | null;
}

/** The read parts replace what the draft says as it was written. */
export function requestOfDraft(
  draft: TaskDraft,
  read: Pick<TaskRequest, "queue" | "runAt" | "pollConfig" | "waitForCallback" | "flow" | "idempotencyKey">,
): TaskRequest {
  return {
    shape: draft.shape,
    queue: read.queue,
    call: draft.call,
    priority: draft.priority,
    onCompleteUrl: draft.onCompleteUrl,
    onFailureUrl: draft.onFailureUrl,
    bodyIsJson: draft.bodyIsJson,
    sign: draft.sign,
    dedupe: draft.dedupe,
    tags: draft.tags,
    metadata: draft.metadata,
    message: null,
    expiresInSeconds: draft.expiresInSeconds,
    retryDelaySeconds: draft.retryDelaySeconds,
    retryMaxDelaySeconds: draft.retryMaxDelaySeconds,
    noRetryStatuses: draft.noRetryStatuses,
    maxRetries: draft.maxRetries,
    backoff: draft.backoff,
    timeoutSeconds: draft.timeoutSeconds,
    delaySeconds: draft.delaySeconds ?? 0,
    runAt: read.runAt,
    provider: draft.provider,
    pollConfig: read.pollConfig,
    waitForCallback: read.waitForCallback,
    maxWaitSeconds: draft.maxWaitSeconds,
    simulate: draft.simulate,
    flow: read.flow,
    idempotencyKey: read.idempotencyKey,
    requestText: "",
    bareText: null,
  };
}

/** A message of the QStash-compatible API says only this; everything else is as in a task that does not set it. */
export function messageRequestOf(
  part: Pick<
    TaskRequest,
    | "queue"
    | "call"
    | "message"
    | "delaySeconds"
    | "runAt"
    | "maxRetries"
    | "timeoutSeconds"
    | "tags"
    | "flow"
  >,
): TaskRequest {
  return {
    shape: "direct",
    queue: part.queue,
    call: part.call,
    priority: PRIORITY_DEFAULT,
    onCompleteUrl: null,
    onFailureUrl: null,
    dedupe: null,
    bodyIsJson: false,
    sign: false,
    tags: part.tags,
    metadata: null,
    message: part.message,
    expiresInSeconds: null,
    retryDelaySeconds: null,
    retryMaxDelaySeconds: null,
    noRetryStatuses: null,
    maxRetries: part.maxRetries,
    backoff: null,
    timeoutSeconds: part.timeoutSeconds,
    delaySeconds: part.delaySeconds,
    runAt: part.runAt,
    provider: null,
    pollConfig: null,
    waitForCallback: false,
    maxWaitSeconds: MAX_WAIT_DEFAULT_SECONDS,
    simulate: null,
    flow: part.flow,
    idempotencyKey: null,
    requestText: "",
    bareText: null,
  };
}

export function taskOfRequest(
  request: TaskRequest,
  own: Pick<
    NewTask,
    | "teamId"
    | "id"
    | "follow"
    | "sandbox"
    | "delaySeconds"
    | "dedupe"
    | "simulate"
    | "flow"
    | "callback"
    | "idempotency"
  >,
): NewTask {
  return {
    teamId: own.teamId,
    id: own.id,
    shape: request.shape,
    queue: request.queue,
    call: request.call,
    priority: request.priority,
    onCompleteUrl: request.onCompleteUrl,
    onFailureUrl: request.onFailureUrl,
    bodyIsJson: request.bodyIsJson,
    sign: request.sign,
    dedupe: own.dedupe,
    tags: request.tags,
    metadata: request.metadata,
    message: request.message,
    expiresInSeconds: request.expiresInSeconds,
    maxRetries: request.maxRetries,
    backoff: request.backoff,
    retryDelaySeconds: request.retryDelaySeconds,
    retryMaxDelaySeconds: request.retryMaxDelaySeconds,
    noRetryStatuses: request.noRetryStatuses,
    timeoutSeconds: request.timeoutSeconds,
    delaySeconds: own.delaySeconds,
    runAt: request.runAt,
    simulate: own.simulate,
    flow: own.flow,
    follow: own.follow,
    sandbox: own.sandbox,
    callback: own.callback,
    idempotency: own.idempotency,
  };
}

/** Its times and settings come from the store. The call is the one to show: without what its message hides. */
export function createdTaskOf(
  task: NewTask,
  stored: TaskSettings & Pick<Task, "createdAt" | "runAt">,
  { call, callback }: Pick<CreatedTask, "call" | "callback">,
): CreatedTask {
  return {
    teamId: task.teamId,
    id: task.id,
    shape: task.shape,
    queue: task.queue,
    call,
    priority: task.priority,
    onCompleteUrl: task.onCompleteUrl,
    onFailureUrl: task.onFailureUrl,
    bodyIsJson: task.bodyIsJson,
    sign: task.sign,
    dedupe: task.dedupe,
    tags: task.tags,
    metadata: task.metadata,
    message: task.message,
    expiresInSeconds: task.expiresInSeconds,
    maxRetries: stored.maxRetries,
    backoff: stored.backoff,
    retryDelaySeconds: stored.retryDelaySeconds,
    retryMaxDelaySeconds: stored.retryMaxDelaySeconds,
    noRetryStatuses: stored.noRetryStatuses,
    timeoutSeconds: stored.timeoutSeconds,
    follow: task.follow,
    sandbox: task.sandbox,
    status: "pending",
    flow: task.flow?.key ?? null,
    runAt: stored.runAt,
    createdAt: stored.createdAt,
    startedAt: null,
    completedAt: null,
    attempts: [],
    scheduleId: null,
    scheduledFor: null,
    dismissedAt: null,
    retries: 0,
    result: null,
    error: null,
    failureReason: null,
    callback,
    replayed: false,
    joined: null,
  };
}
