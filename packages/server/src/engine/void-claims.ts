import type { Time } from "../domain/time.ts";
import type { HeldClaim } from "../store/tasks/hints.ts";

/** Longer than the maximum age of an answer from which a call may start. */
const REMEMBER_MS = 10_000;

/** Cancelled claims, perhaps cancelled before this node knew that it holds them. */
export interface VoidClaims {
  add(claim: Pick<HeldClaim, "taskId" | "fence">): void;
  has(taskId: string, fence: number): boolean;
}

export function createVoidClaims(time: Time): VoidClaims {
  const untilMs = new Map<string, number>();
  return {
    add({ taskId, fence }) {
      const nowMs = time.monotonicMs();
      // A map iterates in insertion order, so the first is the oldest.
      for (const [key, endMs] of untilMs) {
        if (endMs > nowMs) break;
        untilMs.delete(key);
      }
      untilMs.set(`${taskId} ${fence}`, nowMs + REMEMBER_MS);
    },
    has: (taskId, fence) => untilMs.size > 0 && untilMs.has(`${taskId} ${fence}`),
  };
}
