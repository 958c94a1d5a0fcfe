import type { Actors } from "./actors.ts";
import type { Budget } from "./budget.ts";
import { COURIER_COST, type ComposeMessage, createCourier, MOST_NOTIFICATIONS } from "./courier.ts";
import type { Deliveries } from "./deliveries.ts";
import type { Outgoing, TraceCalls } from "./outgoing.ts";
import { createPoller, MOST_POLLS, POLL_COST } from "./poller.ts";
import {
  createWebhookCourier,
  DELIVERY_COST,
  MOST_DELIVERIES,
  type SettleDelivery,
} from "./webhook-courier.ts";

/** The calls that follow a task: polls, notifications and webhook deliveries. */
export interface DeliveryActors {
  readonly poller: Deliveries;
  readonly courier: Deliveries;
  readonly webhookCourier: Deliveries;
  /** A poll is due then. */
  pollDue(runAt: Date): void;
  notificationDue(): void;
}

export function createDeliveryActors(
  deps: Omit<Parameters<typeof createPoller>[0], "pool" | "wake"> & {
    readonly actors: Actors;
    readonly budget: Pick<Budget, "openPool">;
    readonly traceCalls: TraceCalls;
    readonly outgoing: Outgoing;
    readonly composeMessage: ComposeMessage;
    readonly settleDelivery: SettleDelivery;
  },
): DeliveryActors {
  const { actors, budget, outgoing, traceCalls } = deps;
  const wakePoller = () => actors.wake("poller");
  const wakeCourier = () => actors.wake("courier");
  const wakeWebhooks = () => actors.wake("webhook-courier");
  const poller = createPoller({
    ...deps,
    outgoing: traceCalls("poll", outgoing),
    pool: budget.openPool(MOST_POLLS, wakePoller),
    wake: wakePoller,
  });
  const courier = createCourier({
    ...deps,
    outgoing: traceCalls("notification", outgoing),
    pool: budget.openPool(MOST_NOTIFICATIONS, wakeCourier),
    compose: deps.composeMessage,
    wake: wakeCourier,
  });
  const webhookCourier = createWebhookCourier({
    ...deps,
    outgoing: traceCalls("delivery", outgoing),
    pool: budget.openPool(MOST_DELIVERIES, wakeWebhooks),
    settle: deps.settleDelivery,
    wake: wakeWebhooks,
  });
  actors.add({ name: "poller", once: poller.workOnce, cost: POLL_COST });
  actors.add({ name: "courier", once: courier.workOnce, cost: COURIER_COST });
  actors.add({ name: "webhook-courier", once: webhookCourier.workOnce, cost: DELIVERY_COST });
  return {
    poller,
    courier,
    webhookCourier,
    pollDue(runAt) {
      if (poller.isSooner(runAt)) wakePoller();
    },
    notificationDue: wakeCourier,
  };
}
