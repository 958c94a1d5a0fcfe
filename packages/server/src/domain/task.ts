import type { Backoff } from "./backoff.ts";
import type { Call } from "./call.ts";
import type { Dedupe } from "./dedupe.ts";
import type { DeliveryStatus } from "./delivery.ts";
import type { TaskFlow } from "./flow.ts";
import type { Message } from "./message.ts";
import type { Phase } from "./outcome.ts";
import type { PollConfig } from "./poll/poll-config.ts";

export const ENDED_STATUSES = ["completed", "failed", "cancelled"] as const;
export const TASK_STATUSES = ["pending", "active", "waiting", "polling", ...ENDED_STATUSES] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];
export type EndedStatus = (typeof ENDED_STATUSES)[number];

const ENDED: ReadonlySet<string> = new Set(ENDED_STATUSES);

/** In a final state, unless it is retried manually. */
export function isEnded(status: TaskStatus): status is EndedStatus {
  return ENDED.has(status);
}

/** The shape in which a task was created and is shown: see `api/tasks/task-fields.ts`. */
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
  /** Time until the connection was open, if at least a millisecond. */
  readonly connectMs?: number | undefined;
  /** Time until the answer began, if its body arrived at least a millisecond later. */
  readonly firstByteMs?: number | undefined;
  readonly phase: Phase;
  readonly error: string | null;
}

/** The number of polls, and the result of the last one. */
export interface PollsSeen {
  readonly count: number;
  readonly at: string;
  /** A status code, or the code of a failure. */
  readonly answer: string;
  /** Why the poll yielded no status, for people; absent if it did. */
  readonly error?: string;
}

/** The notification of one end of a task, and its state. */
export interface NotificationState {
  readonly url: string;
  readonly status: DeliveryStatus;
  /** Tries since the task ended or the last resend. */
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

/** The meaning of a 2xx to the first call: the end, or the start of a third party's job. */
export interface FollowUp {
  readonly provider: string | null;
  /** The provider's or the caller's own; null if the task is not polled. */
  readonly pollConfig: PollConfig | null;
  readonly waitForCallback: boolean;
  readonly maxWaitSeconds: number;
}

export const MAX_WAIT_DEFAULT_SECONDS = 3600;

/** No follow-up: the 2xx is the end. */
export const NO_FOLLOW_UP: FollowUp = {
  provider: null,
  pollConfig: null,
  waitForCallback: false,
  maxWaitSeconds: MAX_WAIT_DEFAULT_SECONDS,
};

export const SIMULATED_OUTCOMES = ["complete", "fail", "timeout", "callback"] as const;

/** The simulated result of a sandbox task. The task's own rules decide what follows from each attempt. */
export interface Simulation {
  readonly outcome: (typeof SIMULATED_OUTCOMES)[number];
  /** The duration of the attempt with the outcome, or of the wait after it. */
  readonly afterSeconds: number;
  /** Null: 200, or 500 of an attempt that fails. */
  readonly responseCode: number | null;
  readonly body: string;
  /** The first attempt with the outcome; earlier ones fail. A manual retry restarts the count. */
  readonly attempts: number;
}

/** A stored callback id: found by its hash, and encrypted only if the call contains it. */
export interface StoredCallback {
  readonly hash: string;
  readonly sealed: string | null;
}

/** The creator's fields of a task, stored and shown as given. */
export interface TaskDetails {
  readonly shape: Shape;
  readonly queue: string;
  readonly call: Call;
  readonly priority: number;
  readonly onCompleteUrl: string | null;
  /** Notified as well if the task fails or is cancelled. */
  readonly onFailureUrl: string | null;
  /** The body of a direct task was given as JSON instead of text, and is shown and sent as such. */
  readonly bodyIsJson: boolean;
  /** Sign the call, so that the target can verify its origin. */
  readonly sign: boolean;
  /** Joins this task with others under one key. */
  readonly dedupe: Dedupe | null;
  /** Labels to find and group tasks. */
  readonly tags: readonly string[] | null;
  /** Seconds from creation within which the first attempt must start; null for no limit. */
  readonly expiresInSeconds: number | null;
  /** The creator's own data, shown in the record. */
  readonly metadata: Readonly<Record<string, string>> | null;
  /** Null unless the task is a message of the QStash-compatible API. */
  readonly message: Message | null;
}

/** Settings that default to the queue's. */
export interface TaskSettings {
  readonly maxRetries: number;
  readonly backoff: Backoff;
  readonly retryDelaySeconds: number;
  /** The maximum retry delay; null for RETRY_MAX_DELAY_SECONDS. */
  readonly retryMaxDelaySeconds: number | null;
  /** Answers that end the task at once; null for none. */
  readonly noRetryStatuses: readonly number[] | null;
  readonly timeoutSeconds: number;
}

/** The creator's request. A null setting is copied from the queue at creation. */
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
  /** For a sandbox task: its simulation. Null: it stays pending. */
  readonly simulate: Simulation | null;
  readonly flow: TaskFlow | null;
}

interface TaskIdentity {
  readonly teamId: number;
  readonly id: string;
  readonly follow: FollowUp;
  /** A sandbox task: its calls are simulated, or it stays pending. */
  readonly sandbox: boolean;
}

/** `callbackSealed`: the id of the task's callback, for a request that replaces this one; null if it has none or there is no vault. */
export type NewDedupe = Dedupe & { readonly callbackSealed: string | null };

/** An accepted task on its way into the store. */
export interface NewTask extends TaskTerms, TaskIdentity {
  readonly callback: StoredCallback | null;
  readonly dedupe: NewDedupe | null;
  readonly idempotency: {
    readonly key: string;
    readonly requestHash: string;
    /** The id of its callback, for a repeated request; null if it has none or there is no vault. */
    readonly callbackSealed: string | null;
  } | null;
}

export interface Task extends TaskDetails, TaskSettings, TaskIdentity {
  readonly status: TaskStatus;
  readonly flow: string | null;
  readonly runAt: Date;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
  readonly attempts: readonly Attempt[];
  /** While it is polled, after the first poll. */
  readonly polls?: PollsSeen | null;
  /** One per end of the task and URL, oldest first. Null before the first end, and without a URL to notify. */
  readonly notifications?: readonly NotificationState[] | null;
  /** The schedule that created it, if any. */
  readonly scheduleId: string | null;
  /** The time of the schedule that the task was created for; null for a manual run. */
  readonly scheduledFor: Date | null;
  /** What manual retries changed of the call, oldest first. Only in the whole record. */
  readonly retriedWith?: readonly RetriedWith[] | null;
  /** When a user dismissed the failed task: nobody needs to look at it any more. */
  readonly dismissedAt: Date | null;
  /** The number of manual retries. */
  readonly retries: number;
  readonly result: TaskResult | null;
  readonly error: string | null;
  readonly failureReason: FailureReason | null;
}

/** A manual retry that replaced parts of the call. */
export interface RetriedWith {
  readonly at: string;
  readonly fields: readonly ("body" | "headers" | "url")[];
}

/** What the answer to a creation says beside the task. */
export interface Creation {
  /** Shown only here. Null if the task has none, or it was created before and can no longer be decrypted. */
  readonly callback: { readonly id: string; readonly url: string } | null;
  readonly replayed: boolean;
  /** The request joined an earlier task with the same deduplication key: it changed nothing, or replaced what that said. */
  readonly joined: "deduplicated" | "replaced" | null;
}

/** An accepted task: `pending`, or, for a repeated idempotency key, the earlier task in its current state. */
export interface CreatedTask extends Task, Creation {}

/** A task in a list: without its attempts, payload and result body. */
export type TaskSummary = Omit<
  Task,
  "attempts" | "polls" | "notifications" | "retriedWith" | "call" | "result"
> & {
  readonly call: Omit<Call, "body">;
  readonly result: Omit<TaskResult, "body"> | null;
  /** The number of started attempts. */
  readonly attemptCount: number;
};

/** In the answer to a batch: its items may name a thousand earlier tasks, which would be a gigabyte with their bodies. */
export type BatchedTask = CreatedTask | (TaskSummary & Creation);

/** The fields of a task that change over time. */
export type TaskMoment = Pick<
  TaskSummary,
  "status" | "runAt" | "startedAt" | "completedAt" | "result" | "error" | "failureReason"
>;

/** The fields of an event's task that are not stored with the event. */
export type ToldSummary = Omit<
  TaskSummary,
  "teamId" | "attemptCount" | Exclude<keyof TaskMoment, "startedAt" | "completedAt" | "result">
> & {
  /** The serialized parts that are the same in every event of the task, once computed. */
  stays: readonly string[] | null;
};
