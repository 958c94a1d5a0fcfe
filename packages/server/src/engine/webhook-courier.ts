import { type DeliveryVerdict, givenUp, judgeDelivery } from "../domain/delivery.ts";
import { DELIVERY_WAITS_MS, deliveryName } from "../domain/webhook.ts";
import type { Sql } from "../store/sql.ts";
import {
  claimDueDeliveries,
  type DeliveryClaim,
  heldDeliveries,
  teamsWithDueDeliveries,
} from "../store/tasks/webhook-deliveries.ts";
import { createDeliveries, type Deliveries, type DeliveryTools } from "./deliveries.ts";
import { type EngineMeter, NO_METER } from "./meter.ts";
import type { Outgoing } from "./outgoing.ts";
import { MIB, type RoundCost } from "./round-cost.ts";
import { post } from "./signed-post.ts";

const BATCH = 50;
export const DELIVERY_COST: RoundCost = { rows: BATCH, bytes: BATCH * MIB, turns: "in turn" };
/** Maximum in flight on this node, separate from notifications. One team alone gets half of them. */
export const MOST_DELIVERIES = 400;

export type SettleDelivery = (claim: DeliveryClaim, verdict: DeliveryVerdict) => Promise<void>;

/** Sends deliveries to webhooks. */
export function createWebhookCourier(
  deps: DeliveryTools & {
    readonly sql: Sql;
    readonly outgoing: Outgoing;
    readonly settle: SettleDelivery;
    readonly meter?: EngineMeter;
  },
): Deliveries {
  const { sql, lease, log, meter = NO_METER } = deps;

  async function deliver(claim: DeliveryClaim, signal: AbortSignal): Promise<number | null> {
    const { teamId, id, messageId, event, url, body, attempt } = claim;
    const call = { teamId, rowId: id, messageId: deliveryName(messageId), body, signal };
    const verdict =
      url === null
        ? givenUp("The webhook is turned off")
        : judgeDelivery(await post({ ...call, url }, deps), attempt, DELIVERY_WAITS_MS);
    await deps.settle(claim, verdict);
    const { status, error, responseCode, waitMs } = verdict;
    log.info({ delivery: id, event, attempt, status, responseCode, error }, "delivery.settled");
    meter.delivered(status === "pending" ? "retry" : status);
    return waitMs;
  }

  return createDeliveries({
    ...deps,
    name: "delivery",
    batch: BATCH,
    findDue: () => teamsWithDueDeliveries(sql),
    claim: (rooms) => claimDueDeliveries(sql, lease.workerId, rooms),
    work: deliver,
    held: () => heldDeliveries.of(sql, lease.workerId),
    release: (stray) => heldDeliveries.release(sql, stray),
  });
}
