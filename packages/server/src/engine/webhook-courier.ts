import { type DeliveryVerdict, givenUp, judgeDelivery } from "../domain/delivery.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { Time } from "../domain/time.ts";
import { DELIVERY_WAITS_MS, deliveryName } from "../domain/webhook.ts";
import type { Sql } from "../store/sql.ts";
import {
  claimDueDeliveries,
  type DeliveryClaim,
  heldDeliveries,
  teamsWithDueDeliveries,
} from "../store/tasks/webhook-deliveries.ts";
import type { Pool } from "./budget.ts";
import type { DatabaseClock } from "./database-clock.ts";
import { createDeliveries, type Deliveries } from "./deliveries.ts";
import type { Lease } from "./lease.ts";
import type { Log } from "./log.ts";
import { type EngineMeter, NO_METER } from "./meter.ts";
import type { Outgoing } from "./outgoing.ts";
import type { Unanswered } from "./unanswered.ts";

const BATCH = 50;
/** In flight at once on this node; a team alone has half of them. Apart from notifications: neither waits for the other. */
export const MOST_DELIVERIES = 400;
const TIMEOUT_MS = 30_000;

export type SettleDelivery = (claim: DeliveryClaim, verdict: DeliveryVerdict) => Promise<void>;

/** Tells a team's webhooks what has happened. */
export function createWebhookCourier(deps: {
  readonly sql: Sql;
  readonly lease: Lease;
  readonly unanswered: Unanswered;
  readonly pool: Pool;
  readonly learn: (teamIds: readonly number[]) => Promise<void> | null;
  readonly outgoing: Outgoing;
  readonly settle: SettleDelivery;
  readonly log: Log;
  readonly time: Time;
  readonly meter?: EngineMeter;
  readonly clock: DatabaseClock;
  readonly wake: () => void;
}): Deliveries {
  const { sql, lease, log, meter = NO_METER } = deps;

  async function send(claim: DeliveryClaim, url: string, signal: AbortSignal): Promise<Outcome | null> {
    const sent = await deps.outgoing.send({
      teamId: claim.teamId,
      taskId: claim.id,
      messageId: deliveryName(claim.id),
      call: { method: "POST", url, headers: {}, body: claim.body },
      headers: { "content-type": "application/json" },
      timeoutMs: TIMEOUT_MS,
      sign: true,
      callbackSealed: null,
      wipe: null,
      signal,
      mayLeave: lease.isHeld,
    });
    return sent.kind === "outcome" ? sent.outcome : null;
  }

  async function deliver(claim: DeliveryClaim, signal: AbortSignal): Promise<number | null> {
    const verdict =
      claim.url === null
        ? givenUp("The webhook is turned off")
        : judgeDelivery(await send(claim, claim.url, signal), claim.attempt, DELIVERY_WAITS_MS);
    await deps.settle(claim, verdict);
    const { status, error, responseCode, waitMs } = verdict;
    const { id, event, attempt } = claim;
    log.info({ delivery: id, event, attempt, status, responseCode, error }, "delivery.settled");
    meter.delivered(status === "pending" ? "retry" : status);
    return waitMs;
  }

  return createDeliveries({
    name: "delivery",
    lease,
    unanswered: deps.unanswered,
    log,
    time: deps.time,
    clock: deps.clock,
    pool: deps.pool,
    learn: deps.learn,
    batch: BATCH,
    findDue: () => teamsWithDueDeliveries(sql),
    claim: (rooms) => claimDueDeliveries(sql, lease.workerId, rooms),
    work: deliver,
    wake: deps.wake,
    held: () => heldDeliveries.of(sql, lease.workerId),
    release: (stray) => heldDeliveries.release(sql, stray),
  });
}
