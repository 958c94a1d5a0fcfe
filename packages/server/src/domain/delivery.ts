import type { Outcome } from "./outcome.ts";

export const DELIVERY_STATUSES = ["pending", "delivered", "failed"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** The result of one try to send to a receiver. */
export interface DeliveryVerdict {
  readonly status: DeliveryStatus;
  /** Null if it is delivered or given up. */
  readonly waitMs: number | null;
  readonly responseCode: number | null;
  readonly error: string | null;
}

export function givenUp(error: string): DeliveryVerdict {
  return { status: "failed", waitMs: null, responseCode: null, error };
}

/** `outcome` is null if the request was refused before it started; `waitsMs` are the delays after each try but the last. */
export function judgeDelivery(
  outcome: Outcome | null,
  attempt: number,
  waitsMs: readonly number[],
): DeliveryVerdict {
  const responseCode = outcome?.kind === "response" ? outcome.statusCode : null;
  if (responseCode !== null && responseCode >= 200 && responseCode < 300)
    return { status: "delivered", waitMs: null, responseCode, error: null };
  // A refusal of the egress policy is final.
  const isBlocked = outcome?.kind === "failure" && outcome.code === "blocked";
  const waitMs = isBlocked ? null : (waitsMs[attempt - 1] ?? null);
  const status = waitMs === null ? "failed" : "pending";
  return { status, waitMs, responseCode, error: describe(outcome) };
}

function describe(outcome: Outcome | null): string {
  if (outcome === null) return "The call was refused";
  return outcome.kind === "response" ? `The receiver answered ${outcome.statusCode}` : outcome.message;
}
