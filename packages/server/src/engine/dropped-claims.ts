import { atMost, type Time } from "../domain/time.ts";
import type { ClaimHint, HeldClaim } from "../store/tasks/hints.ts";

/** A cancel is answered after this time, though the node that makes the call has not said that it dropped it. */
const LONGEST_WAIT_MS = 1_000;

/** Asks the workers that hold claims to drop them, and hears that they did. */
export interface DroppedClaims {
  /** Resolves once its worker makes no call of the claim, nor will; or is not heard for a second. */
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
