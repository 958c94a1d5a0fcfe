import { alerts } from "./alerts/index.ts";
import { breakers } from "./breakers/index.ts";
import { bulkActions } from "./bulk-actions/index.ts";
import type { Core, Feature } from "./feature.ts";
import { flows } from "./flow-control/index.ts";
import { createFanOut, qstash } from "./qstash/index.ts";
import { sandbox } from "./sandbox/index.ts";
import { schedules } from "./schedules/index.ts";
import { stats } from "./stats/index.ts";
import { webhooks } from "./webhooks/index.ts";

export type Features = ReturnType<typeof createFeatures>;

/** Every feature of the server: a new one is added here. */
export function createFeatures(core: Core) {
  const ofSchedules = schedules(core, createFanOut(core.databases.api));
  const ofWebhooks = webhooks(core);
  const ofFlows = flows(core);
  const ofBreakers = breakers(core);
  return {
    alerts: alerts(core, { schedules: ofSchedules, webhooks: ofWebhooks, breakers: ofBreakers }),
    breakers: ofBreakers,
    bulkActions: bulkActions(core),
    flows: ofFlows,
    schedules: ofSchedules,
    sandbox: sandbox(core, ofSchedules.runner),
    qstash: qstash(core, ofSchedules.service, ofFlows.service),
    stats: stats(core),
    webhooks: ofWebhooks,
  };
}

export function allFeatures(features: Features): readonly Feature[] {
  return Object.values(features);
}
