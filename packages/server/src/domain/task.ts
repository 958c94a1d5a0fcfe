import type { Backoff } from "./backoff.ts";
import type { Call } from "./call.ts";
import type { DeliveryStatus } from "./delivery.ts";
import type { Phase } from "./outcome.ts";
import type { PollConfig } from "./poll/poll-config.ts";

export const ENDED_STATUSES = ["completed", "failed", "cancelled"] as const;
export const TASK_STATUSES = ["pending", "active", "waiting", "polling", ...ENDED_STATUSES] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];
export type EndedStatus = (typeof ENDED_STATUSES)[number];

const ENDED: ReadonlySet<string> = new Set(ENDED_STATUSES);

/** Nothing happens to it any more, unless it is retried by hand. */
export function isEnded(status: TaskStatus): status is EndedStatus {
  return ENDED.has(status);
}

/** Which kind a task was created as, and is answered as: `api/tasks/task-fields.ts` tells what the two are. */
export type Shape = "queue" | "direct";

export const PRIORITY_DEFAULT = 5;

export type AttemptStatus =
  | "active"
  | "success"
  | "failed"
  | "timeout"
  | "interrupted"
  | "aborted"
  | "blocked"
  | "superseded";

/** One try. Closed attempts never change; the only open one has status `active`. */
export interface Attempt {
  readonly number: number;
  readonly status: AttemptStatus;
  readonly responseCode: number | null;
  readonly executedAt: Date;
  readonly durationMs: number | null;
  /** How long it took to connect, where that took a millisecond. */
  readonly connectMs?: number | undefined;
  /** When the answer began, where its body came a millisecond later. */
  readonly firstByteMs?: number | undefined;
  readonly phase: Phase;
  readonly error: string | null;
}

/** The polls so far, and what the last one came to. */
export interface PollsSeen {
  readonly count: number;
  readonly at: string;
  /** A status code, or the code of a failure. */
  readonly answer: string;
  /** Why the poll told nothing of the job, for people; left out where it did. */
  readonly error?: string;
}

/** The notification of one end of a task, and what became of its tries so far. */
export interface NotificationState {
  readonly url: string;
  readonly status: DeliveryStatus;
  /** Tries begun since the task ended, or since the last resend. */
  readonly attempts: number;
  /** Why the last try failed; null before the first try and once it is delivered. */
  readonly lastError: string | null;
  /** When the next try is due; null once it is delivered or given up. */
  readonly nextAt: Date | null;
}

export interface TaskResult {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly duration: number;
  readonly truncated?: true;
}

/** Why a task ended `failed`, for machines; `error` says it to people. */
export const FAILURE_REASONS = [
  "retries_exhausted",
  "worker_lost",
  "queue_deleted",
  "poll_failed",
  "poll_timeout",
  "callback_timeout",
  "token_revoked",
  "blocked",
  "not_retryable",
  "expired",
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** What a 2xx to the first call means: the end, or the beginning of a job that someone else reports on. */
export interface FollowUp {
  readonly provider: string | null;
  /** The provider's or the caller's own; null if the task is not polled. */
  readonly pollConfig: PollConfig | null;
  readonly waitForCallback: boolean;
  readonly maxWaitSeconds: number;
}

export const MAX_WAIT_DEFAULT_SECONDS = 3600;

/** The 2xx is the end. */
export const NO_FOLLOW_UP: FollowUp = {
  provider: null,
  pollConfig: null,
  waitForCallback: false,
  maxWaitSeconds: MAX_WAIT_DEFAULT_SECONDS,
};

export const SIMULATED_OUTCOMES = ["complete", "fail", "timeout", "callback"] as const;

/** How a task of the sandbox is to go, instead of a call. The task's own rules decide what follows from each attempt. */
export interface Simulation {
  readonly outcome: (typeof SIMULATED_OUTCOMES)[number];
  /** How long the attempt takes that has the outcome, or what is waited for after it. */
  readonly afterSeconds: number;
  /** Null: 200, or 500 of an attempt that fails. */
  readonly responseCode: number | null;
  readonly body: string;
  /** The outcome is that of this attempt and those after it; those before it fail. Counted anew when a task is retried by hand. */
  readonly attempts: number;
}

/** A callback's id as it is kept: findable by its hash, readable only sealed, and only where the call names it. */
export interface StoredCallback {
  readonly hash: string;
  readonly sealed: string | null;
}

/** What its creator said about a task: kept as it was said, and shown. */
export interface TaskDetails {
  readonly shape: Shape;
  readonly queue: string;
  readonly call: Call;
  readonly priority: number;
  readonly onCompleteUrl: string | null;
  /** The body of a direct task was given as JSON instead of text: it is shown and sent as such. */
  readonly bodyIsJson: boolean;
  /** Carry a signature with which the target can tell that the call is ours. */
  readonly sign: boolean;
  /** Words to find and group tasks by. */
  readonly tags: readonly string[] | null;
  /** So long its first attempt may be waited for, from creation; null for ever. */
  readonly expiresInSeconds: number | null;
  /** What the creator wants to find in the record again. */
  readonly metadata: Readonly<Record<string, string>> | null;
}

/** What the queue says unless the task's creator does. */
export interface TaskSettings {
  readonly maxRetries: number;
  readonly backoff: Backoff;
  readonly retryDelaySeconds: number;
  /** No wait that Bellhop chooses is longer; null for RETRY_MAX_DELAY_SECONDS. */
  readonly retryMaxDelaySeconds: number | null;
  /** Answers that end the task at once; null for none. */
  readonly noRetryStatuses: readonly number[] | null;
  readonly timeoutSeconds: number;
}

/** What its creator asks for. A setting left null is taken from the queue at the moment of creation. */
export interface TaskTerms extends TaskDetails {
  readonly maxRetries: number | null;
  readonly backoff: Backoff | null;
  readonly retryDelaySeconds: number | null;
  readonly retryMaxDelaySeconds: number | null;
  readonly noRetryStatuses: readonly number[] | null;
  readonly timeoutSeconds: number | null;
  readonly delaySeconds: number;
  /** An exact instant instead of a delay. */
  readonly runAt: Date | null;
  /** Of a task of the sandbox: how it is to go. Null: it stays as it is. */
  readonly simulate: Simulation | null;
}

interface TaskIdentity {
  readonly teamId: number;
  readonly id: string;
  readonly follow: FollowUp;
  /** Stored and answered like any other; its calls are simulated, or it stays as it is. */
  readonly sandbox: boolean;
}

/** An accepted task on its way into the store. */
export interface NewTask extends TaskTerms, TaskIdentity {
  readonly callback: StoredCallback | null;
  readonly idempotency: {
    readonly key: string;
    readonly requestHash: string;
    /** The id of its callback, for a repeated request; null if it has none or there is no vault. */
    readonly callbackSealed: string | null;
  } | null;
}

export interface Task extends TaskDetails, TaskSettings, TaskIdentity {
  readonly status: TaskStatus;
  readonly runAt: Date;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
  readonly attempts: readonly Attempt[];
  /** While it is polled, from the second poll on. */
  readonly polls?: PollsSeen | null;
  /** One per end of the task, oldest first. Null before the first end, and without `onCompleteUrl`. */
  readonly notifications?: readonly NotificationState[] | null;
  /** Which schedule made it, if one did. */
  readonly scheduleId: string | null;
  /** How often it was begun anew by hand. */
  readonly retries: number;
  readonly result: TaskResult | null;
  readonly error: string | null;
  readonly failureReason: FailureReason | null;
}

/** A task as it was accepted: `pending`, or, of an earlier request with the same idempotency key, as it is now. */
export interface CreatedTask extends Task {
  /** Shown here and nowhere else. Null if the task has none, or was created before and it cannot be read any more. */
  readonly callback: { readonly id: string; readonly url: string } | null;
  readonly replayed: boolean;
}

/** A task in a list: everything but its history, what it carries and what came back. */
export type TaskSummary = Omit<Task, "attempts" | "polls" | "notifications" | "call" | "result"> & {
  readonly call: Omit<Call, "body">;
  readonly result: Omit<TaskResult, "body"> | null;
  /** So many attempts were begun. */
  readonly attemptCount: number;
};

/** What of a task changes while it goes its way. */
export type TaskMoment = Pick<
  TaskSummary,
  "status" | "runAt" | "startedAt" | "completedAt" | "result" | "error" | "failureReason"
>;

/** What is told of a task besides a moment, and what of the moment is not kept with the event. */
export type ToldSummary = Omit<
  TaskSummary,
  "teamId" | "attemptCount" | Exclude<keyof TaskMoment, "startedAt" | "completedAt" | "result">
> & {
  /** What of it is the same at every moment, once that was put into words. */
  stays: readonly string[] | null;
};

/**
 * Its times and settings are the store's to say. Every property by name: this is done for every task, and a literal costs
 * a tenth of a spread.
 */
export function makeCreatedTask(
  task: NewTask,
  stored: TaskSettings & Pick<Task, "createdAt" | "runAt">,
  callback: CreatedTask["callback"],
): CreatedTask {
  return {
    teamId: task.teamId,
    id: task.id,
    shape: task.shape,
    queue: task.queue,
    call: task.call,
    priority: task.priority,
    onCompleteUrl: task.onCompleteUrl,
    bodyIsJson: task.bodyIsJson,
    sign: task.sign,
    tags: task.tags,
    metadata: task.metadata,
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
    runAt: stored.runAt,
    createdAt: stored.createdAt,
    startedAt: null,
    completedAt: null,
    attempts: [],
    scheduleId: null,
    retries: 0,
    result: null,
    error: null,
    failureReason: null,
    callback,
    replayed: false,
  };
}
