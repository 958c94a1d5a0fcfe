import type { DeliveryStatus } from "./delivery.ts";
import type { EventType } from "./event.ts";
import { formatId } from "./public-id.ts";

/** A webhook's URL and filters. */
export interface WebhookTerms {
  readonly url: string;
  readonly events: readonly EventType[];
  /** Null matches every queue, and every tag. */
  readonly queue: string | null;
  readonly tag: string | null;
  readonly enabled: boolean;
}

export interface Webhook extends WebhookTerms {
  readonly teamId: number;
  readonly id: string;
  /** When Bellhop disabled it because deliveries failed for too long. */
  readonly disabledAt: Date | null;
  /** Since when every delivery has failed; null while they succeed. */
  readonly failingSince: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Sent to one webhook on request, whatever it subscribes to. */
export const TEST_EVENT = "webhook.test";

export type DeliveredEvent = EventType | typeof TEST_EVENT;

export interface WebhookDelivery {
  readonly id: string;
  /** The id of the first delivery of its message. */
  readonly messageId: string;
  readonly event: DeliveredEvent;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly responseCode: number | null;
  readonly error: string | null;
  readonly createdAt: Date;
  /** When it is tried next; null if it is over. */
  readonly nextAt: Date | null;
}

/** Eight tries over 28 hours: one at once, the others after these delays. */
export const DELIVERY_WAITS_MS = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000].map(
  (seconds) => seconds * 1000,
);

/** A webhook is disabled after failing for this long. */
export const WEBHOOK_PATIENCE_DAYS = 5;

/** The public id of a delivery, the same on every try and in the list. */
export function deliveryName(id: string): string {
  return formatId("whd", id);
}
