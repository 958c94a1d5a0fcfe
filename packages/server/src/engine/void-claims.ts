import type { Time } from "../domain/time.ts";
import type { HeldClaim } from "../store/tasks/hints.ts";

/** Longer than the answer to a claim may take and still be begun from. */
const REMEMBER_MS = 10_000;

/** Claims that were cancelled, perhaps before this node knew that it holds them. */
export interface VoidClaims {
  add(claim: Pick<HeldClaim, "taskId" | "fence">): void;
  has(taskId: string, fence: number): boolean;
}

export function createVoidClaims(time: Time): VoidClaims {
  const untilMs = new Map<string, number>();
  return {
    add({ taskId, fence }) {
      const nowMs = time.monotonicMs();
      // A map yields what was added first: the oldest.
      for (const [key, endMs] of untilMs) {
        if (endMs > nowMs) break;
        untilMs.delete(key);
      }
      untilMs.set(`${taskId} ${fence}`, nowMs + REMEMBER_MS);
    },
    has: (taskId, fence) => untilMs.size > 0 && untilMs.has(`${taskId} ${fence}`),
  };
}
