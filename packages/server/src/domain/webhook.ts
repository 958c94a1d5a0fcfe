import type { DeliveryStatus } from "./delivery.ts";
import type { EventType } from "./event.ts";
import { formatId } from "./public-id.ts";

/** What a team wants to be told of, and where. */
export interface WebhookTerms {
  readonly url: string;
  readonly events: readonly EventType[];
  /** Null: of every queue, and whatever the tags. */
  readonly queue: string | null;
  readonly tag: string | null;
  readonly enabled: boolean;
}

export interface Webhook extends WebhookTerms {
  readonly teamId: number;
  readonly id: string;
  /** When Bellhop turned it off, because nothing was delivered for so long. */
  readonly disabledAt: Date | null;
  /** Since when every delivery has failed; null while they succeed. */
  readonly failingSince: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface WebhookDelivery {
  readonly id: string;
  readonly event: EventType;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly responseCode: number | null;
  readonly error: string | null;
  readonly createdAt: Date;
  /** When it is tried next; null if it is over. */
  readonly nextAt: Date | null;
}

/** Eight tries over 28 hours: at once, then after these waits. */
export const DELIVERY_WAITS_MS = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000].map(
  (seconds) => seconds * 1000,
);

/** So long a webhook may fail before it is turned off. */
export const WEBHOOK_PATIENCE_DAYS = 5;

/** By which a receiver knows a delivery, the same on every try, and its sender finds it in the list. */
export function deliveryName(id: string): string {
  return formatId("whd", id);
}
