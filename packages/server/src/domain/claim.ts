import type { Call } from "./call.ts";
import type { Message } from "./message.ts";
import type { TaskSettings, TaskSummary } from "./task.ts";
import type { Trial } from "./verdict.ts";

/** A worker's right to make one attempt, with all data for it. */
export interface Claim extends Trial, Pick<TaskSummary, "teamId" | "id" | "shape" | "queue" | "priority"> {
  readonly queueId: number;
  /** The worker's id: a process that lost its lease continues under another id. */
  readonly workerId: number;
  /** Proves at settlement that the claim is still valid. */
  readonly fence: number;
  readonly attempt: number;
  readonly attemptStartedAt: Date;
  readonly call: Call;
  readonly timeoutSeconds: number;
  readonly bodyIsJson: boolean;
  readonly sign: boolean;
  readonly message: Message | null;
  /** The encrypted id of the callback that the call contains. */
  readonly callbackSealed: string | null;
  /** The key of its flow, in which it has a place. */
  readonly flow: string | null;
  /** In a queue with a rate: the time from which its permit counts until the begin of its call is reported. */
  readonly permitAt: Date | null;
  /** The call must begin before this, by the worker's monotonic clock: its permit is void then. */
  readonly startByMs: number | null;
  /** The time of the schedule that the task was created for, if one created it. */
  readonly scheduledFor: Date | null;
}

/**
 * The only place that creates a claim, for tasks taken from a queue and for tasks handed over by the intake. Every
 * property by name: a claim is created for every attempt, and a literal costs a hundredth of a spread.
 */
export function makeClaim(
  task: Pick<Claim, "id" | "shape" | "priority" | "call" | "follow" | "bodyIsJson" | "sign" | "message">,
  settings: TaskSettings,
  queue: Pick<Claim, "teamId" | "queueId" | "queue" | "workerId">,
  attempt: Pick<
    Claim,
    "fence" | "attempt" | "attemptStartedAt" | "failures" | "callbackSealed" | "scheduledFor"
  >,
): Claim {
  return {
    teamId: queue.teamId,
    id: task.id,
    queueId: queue.queueId,
    workerId: queue.workerId,
    queue: queue.queue,
    shape: task.shape,
    priority: task.priority,
    fence: attempt.fence,
    attempt: attempt.attempt,
    attemptStartedAt: attempt.attemptStartedAt,
    failures: attempt.failures,
    call: task.call,
    maxRetries: settings.maxRetries,
    backoff: settings.backoff,
    retryDelaySeconds: settings.retryDelaySeconds,
    retryMaxDelaySeconds: settings.retryMaxDelaySeconds,
    noRetryStatuses: settings.noRetryStatuses,
    timeoutSeconds: settings.timeoutSeconds,
    follow: task.follow,
    bodyIsJson: task.bodyIsJson,
    sign: task.sign,
    message: task.message,
    callbackSealed: attempt.callbackSealed,
    flow: null,
    permitAt: null,
    startByMs: null,
    scheduledFor: attempt.scheduledFor,
  };
}
