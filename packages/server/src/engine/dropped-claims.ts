import { atMost, type Time } from "../domain/time.ts";
import type { ClaimHint, HeldClaim } from "../store/tasks/hints.ts";

/** A cancel is answered after this time even if the worker has not confirmed that it dropped the claim. */
const LONGEST_WAIT_MS = 1_000;

/** Asks workers to drop claims, and receives their confirmations. */
export interface DroppedClaims {
  /** Resolves once the worker confirms that no call of the claim runs or will start, or after a second without an answer. */
  ask(claim: HeldClaim): Promise<void>;
  hear(claim: HeldClaim): void;
}

export function createDroppedClaims(deps: {
  readonly time: Time;
  readonly send: (hint: ClaimHint) => void;
}): DroppedClaims {
  const waiting = new Map<string, () => void>();
  return {
    async ask(claim) {
      const key = keyOf(claim);
      const dropped = new Promise<void>((resolve) => waiting.set(key, resolve));
      deps.send({ kind: "void", claim });
      await atMost(deps.time, dropped, LONGEST_WAIT_MS);
      waiting.delete(key);
    },
    hear: (claim) => waiting.get(keyOf(claim))?.(),
  };
}

function keyOf({ taskId, fence }: HeldClaim): string {
  return `${taskId} ${fence}`;
}
