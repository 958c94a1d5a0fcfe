import type { Outcome } from "../domain/outcome.ts";
import type { FailureReason, Shape } from "../domain/task.ts";
import type { Time } from "../domain/time.ts";

/**
 * Told of what the engine does, as it happens, several times per task: an implementation counts and returns. It never
 * throws.
 */
export interface EngineMeter {
  created(shape: Shape, sandbox: boolean, teamId: number, queueId: number): void;
  /** Null: completed. */
  ended(failure: FailureReason | null, teamId: number, queueId: number, sandbox?: boolean): void;
  cancelled(teamId: number, queueId: number, sandbox: boolean): void;
  /** From the time a task was due until its attempt began. */
  waited(ms: number, teamId: number, queueId: number): void;
  attempted(outcome: Outcome, teamId: number, queueId: number): void;
  /** An attempt failed and another follows, or the task was begun anew by hand. */
  retried(teamId: number, queueId: number, sandbox?: boolean): void;
  /** An attempt was closed without an outcome, or its outcome came after its claim had been taken back. */
  attemptLost(how: "interrupted" | "superseded" | "aborted"): void;
  polled(result: "again" | "completed" | "failed" | "superseded"): void;
  notified(result: "delivered" | "retry" | "failed"): void;
  /** A webhook was sent an event, or was to be. */
  delivered(result: "delivered" | "retry" | "failed"): void;
  leaseRenewed(): void;
  leaseLost(): void;
  /** Tasks were taken from workers that are no more. */
  reaped(tasks: number): void;
  /** One statement did this for so many tasks, and took so long. */
  batch(step: BatchStep, size: number, ms: number): void;
}

export type BatchStep = "intake" | "claim" | "settle" | "poll";

const nothing = () => {};

export const NO_METER: EngineMeter = {
  created: nothing,
  ended: nothing,
  cancelled: nothing,
  waited: nothing,
  attempted: nothing,
  retried: nothing,
  attemptLost: nothing,
  polled: nothing,
  notified: nothing,
  delivered: nothing,
  leaseRenewed: nothing,
  leaseLost: nothing,
  reaped: nothing,
  batch: nothing,
};

/** The same flush, which tells the meter of each batch that went through. */
export function meterFlush<Item, Answer>(
  step: BatchStep,
  { meter = NO_METER, time }: { readonly meter?: EngineMeter | undefined; readonly time: Time },
  flush: (items: readonly Item[]) => Promise<readonly Answer[]>,
): (items: readonly Item[]) => Promise<readonly Answer[]> {
  return async (items) => {
    const beganMs = time.monotonicMs();
    const answers = await flush(items);
    meter.batch(step, items.length, time.monotonicMs() - beganMs);
    return answers;
  };
}
