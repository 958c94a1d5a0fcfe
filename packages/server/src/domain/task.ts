import type { Backoff } from "./backoff.ts";
import type { Call } from "./call.ts";
import type { Phase } from "./outcome.ts";
import type { PollConfig } from "./poll/poll-config.ts";

export const TASK_STATUSES = ["pending", "active", "waiting", "polling", "completed", "failed"] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** Which of the two views of the API a task was created in; it is answered in the same one. */
export type Shape = "queue" | "direct";

export const PRIORITY_DEFAULT = 5;

export type AttemptStatus =
  | "active"
  | "success"
  | "failed"
  | "timeout"
  | "interrupted"
  | "blocked"
  | "superseded";

/** One try. Closed attempts never change; the only open one has status `active`. */
export interface Attempt {
  readonly number: number;
  readonly status: AttemptStatus;
  readonly responseCode: number | null;
  readonly executedAt: Date;
  readonly durationMs: number | null;
  readonly phase: Phase;
  readonly error: string | null;
}

export interface TaskResult {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly duration: number;
  readonly truncated?: true;
}

/** Why a task ended `failed`, for machines; `error` says it to people. */
export type FailureReason =
  | "retries_exhausted"
  | "worker_lost"
  | "queue_deleted"
  | "poll_failed"
  | "poll_timeout"
  | "callback_timeout"
  | "token_revoked"
  | "blocked";

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

/** A callback's id as it is kept: findable by its hash, readable only sealed, and only where a call must name it. */
export interface StoredCallback {
  readonly hash: string;
  readonly sealed: string | null;
}

/** What someone asked for. A setting left null is taken from the queue at the moment of creation. */
export interface NewTask {
  readonly teamId: number;
  readonly id: string;
  readonly shape: Shape;
  readonly queue: string;
  readonly call: Call;
  readonly priority: number;
  readonly delaySeconds: number;
  /** An exact instant instead of a delay. */
  readonly runAt: Date | null;
  readonly maxRetries: number | null;
  readonly backoff: Backoff | null;
  readonly timeoutSeconds: number | null;
  readonly follow: FollowUp;
  readonly onCompleteUrl: string | null;
  /** Carry a signature with which the target can tell that the call is ours. */
  readonly sign: boolean;
  readonly callback: StoredCallback | null;
  readonly idempotency: { readonly key: string; readonly requestHash: string } | null;
  /** Stored and answered like any other, and never executed. */
  readonly sandbox: boolean;
}

export interface Task {
  readonly teamId: number;
  readonly id: string;
  readonly shape: Shape;
  readonly queue: string;
  readonly status: TaskStatus;
  readonly call: Call;
  readonly priority: number;
  readonly maxRetries: number;
  readonly backoff: Backoff;
  readonly timeoutSeconds: number;
  readonly follow: FollowUp;
  readonly onCompleteUrl: string | null;
  readonly sign: boolean;
  readonly sandbox: boolean;
  readonly runAt: Date;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
  readonly attempts: readonly Attempt[];
  readonly result: TaskResult | null;
  readonly error: string | null;
  readonly failureReason: FailureReason | null;
}

/** A task in a list: everything but its history and what it carries. */
export type TaskSummary = Omit<Task, "attempts" | "call"> & { readonly call: Omit<Call, "body"> };
