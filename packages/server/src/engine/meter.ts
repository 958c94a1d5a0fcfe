import type { Outcome } from "../domain/outcome.ts";
import type { Time } from "../domain/time.ts";

/**
 * Receives what the engine does, several times per task. An implementation counts and returns; it never throws.
 * Listeners of `TaskChanges` count created and ended tasks.
 */
export interface EngineMeter {
  /** Time from when a task was due until its attempt began. */
  waited(ms: number, teamId: number, queueId: number): void;
  attempted(outcome: Outcome, teamId: number, queueId: number): void;
  /** An attempt ended without an outcome, or its outcome arrived after its claim was released. */
  attemptLost(how: "interrupted" | "superseded" | "aborted"): void;
  polled(result: "again" | "completed" | "failed" | "superseded"): void;
  notified(result: "delivered" | "retry" | "failed"): void;
  /** A try to send an event to a webhook ended. */
  delivered(result: "delivered" | "retry" | "failed"): void;
  leaseRenewed(): void;
  leaseLost(): void;
  /** Tasks of dead workers were released. */
  reaped(tasks: number): void;
  /** One statement processed this many tasks in this time. */
  batch(step: BatchStep, size: number, ms: number): void;
}

export type BatchStep = "intake" | "claim" | "settle" | "poll";

const nothing = () => {};

export const NO_METER: EngineMeter = {
  waited: nothing,
  attempted: nothing,
  attemptLost: nothing,
  polled: nothing,
  notified: nothing,
  delivered: nothing,
  leaseRenewed: nothing,
  leaseLost: nothing,
  reaped: nothing,
  batch: nothing,
};

/** Wraps a flush so that it reports each successful batch to the meter. */
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
