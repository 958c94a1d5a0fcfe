import { webhookText } from "../../api/tasks/event-view.ts";
import { removeOldDeliveries } from "../../store/tasks/webhook-deliveries.ts";
import { defineFeature } from "../feature.ts";
import { registerWebhookRoutes } from "./routes.ts";
import { createWebhookService } from "./service.ts";
import { countDisabledWebhooks } from "./store.ts";
import { createWebhookFanOut, FAN_OUT_COST } from "./worker.ts";

export { createDeliverySettlement } from "./service.ts";

/** The last attempt of a delivery is little more than a day after the first. */
const KEPT_DAYS = 7;
/** Small enough that no statement holds locks or writes WAL for long. */
const BATCH = 1_000;

/** Delivers events to the team's endpoints. The engine's courier makes the calls. */
export const webhooks = defineFeature(({ databases, actors, refuseUrl, storageQuota, time }) => {
  const service = createWebhookService({
    database: databases.api,
    storageQuota,
    onChanged: () => actors.wake("webhooks"),
    onDelivery: () => actors.wake("webhook-courier"),
  });
  const fanOut = createWebhookFanOut({
    sql: databases.chores,
    inWords: webhookText,
    onStored: () => actors.wake("webhook-courier"),
    monotonicMs: time.monotonicMs,
  });
  return {
    service,
    /** Webhooks that Bellhop disabled and that nobody has enabled since. */
    countDisabled: (teamId: number) => countDisabledWebhooks(databases.chores, teamId),
    routes: [(app) => registerWebhookRoutes(app, { webhooks: service, refuseUrl })],
    actors: [{ name: "webhooks", once: fanOut.workOnce, cost: FAN_OUT_COST }],
    retention: [async (sql) => (await removeOldDeliveries(sql, KEPT_DAYS, BATCH)) === BATCH],
  };
});
