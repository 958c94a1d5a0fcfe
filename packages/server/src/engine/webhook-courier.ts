import type { Outcome } from "../domain/outcome.ts";
import type { Time } from "../domain/time.ts";
import { DELIVERY_WAITS_MS, deliveryName } from "../domain/webhook.ts";
import type { Sql } from "../store/sql.ts";
import {
  claimDueDeliveries,
  type DeliveryClaim,
  type DeliveryOutcome,
  heldDeliveries,
  releaseDeliveries,
  teamsWithDueDeliveries,
} from "../store/tasks/webhook-deliveries.ts";
import type { Pool } from "./budget.ts";
import type { DatabaseClock } from "./database-clock.ts";
import { createDeliveries, type Deliveries } from "./deliveries.ts";
import type { Lease } from "./lease.ts";
import type { Log } from "./log.ts";
import type { Outgoing } from "./outgoing.ts";
import type { Unanswered } from "./unanswered.ts";

const BATCH = 50;
/** In flight at once on this node; a team alone has half of them. Apart from notifications: neither waits for the other. */
export const MOST_DELIVERIES = 400;
const TIMEOUT_MS = 30_000;

export type SettleDelivery = (claim: DeliveryClaim, outcome: DeliveryOutcome) => Promise<void>;

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
  readonly clock: DatabaseClock;
  readonly wake: () => void;
}): Deliveries {
  const { sql, lease, log } = deps;

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
    const outcome =
      claim.url === null ? GIVEN_UP : judge(await send(claim, claim.url, signal), claim.attempt);
    await deps.settle(claim, outcome);
    const { status, error, responseCode } = outcome;
    const { id, event, attempt } = claim;
    log.info({ delivery: id, event, attempt, status, responseCode, error }, "delivery.settled");
    return outcome.waitMs;
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
    held: () => heldDeliveries(sql, lease.workerId),
    release: (stray) => releaseDeliveries(sql, stray),
  });
}

const GIVEN_UP: DeliveryOutcome = {
  status: "failed",
  waitMs: null,
  responseCode: null,
  error: "The webhook is turned off",
};

/** Null: the call was refused before it began. */
function judge(outcome: Outcome | null, attempt: number): DeliveryOutcome {
  const responseCode = outcome?.kind === "response" ? outcome.statusCode : null;
  if (responseCode !== null && responseCode >= 200 && responseCode < 300)
    return { status: "delivered", waitMs: null, responseCode, error: null };
  // What the egress policy refuses, it refuses for good.
  const isBlocked = outcome?.kind === "failure" && outcome.code === "blocked";
  const waitMs = isBlocked ? null : (DELIVERY_WAITS_MS[attempt - 1] ?? null);
  const error =
    outcome === null
      ? "The call was refused"
      : outcome.kind === "response"
        ? `The receiver answered ${outcome.statusCode}`
        : outcome.message;
  return { status: waitMs === null ? "failed" : "pending", waitMs, responseCode, error };
}
