import type { Call } from "./call.ts";
import type { TaskSettings, TaskSummary } from "./task.ts";
import type { Trial } from "./verdict.ts";

/** A worker's right to make one attempt, with all it needs to make it. */
export interface Claim extends Trial, Pick<TaskSummary, "teamId" | "id" | "shape" | "queue" | "priority"> {
  readonly queueId: number;
  /** Whose right it is: a process that lost its lease comes back under another id. */
  readonly workerId: number;
  /** Proves at settlement that the right is still held. */
  readonly fence: number;
  readonly attempt: number;
  readonly attemptStartedAt: Date;
  readonly call: Call;
  readonly timeoutSeconds: number;
  readonly bodyIsJson: boolean;
  readonly sign: boolean;
  /** The sealed id of the callback that the call must name. */
  readonly callbackSealed: string | null;
}

/**
 * The one place where a claim is made, whether the worker took the task from its queue or was handed it by the intake.
 * Every property by name: a claim is made for every attempt, and a literal costs a hundredth of a spread.
 */
export function makeClaim(
  task: Pick<Claim, "id" | "shape" | "priority" | "call" | "follow" | "bodyIsJson" | "sign">,
  settings: TaskSettings,
  queue: Pick<Claim, "teamId" | "queueId" | "queue" | "workerId">,
  attempt: Pick<Claim, "fence" | "attempt" | "attemptStartedAt" | "failures" | "callbackSealed">,
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
    callbackSealed: attempt.callbackSealed,
  };
}
