import { rollQueueStats } from "../../store/tasks/queue-stats.ts";
import { defineFeature } from "../feature.ts";
import { registerStatsRoutes } from "./routes.ts";
import { createStatsService } from "./service.ts";

/** Figures of queues over time, and failures grouped by cause. */
export const stats = defineFeature(({ databases, time }) => {
  const service = createStatsService({ sql: databases.api, now: () => new Date(time.nowMs()) });
  return {
    service,
    routes: [(app) => registerStatsRoutes(app, service)],
    retention: [rollQueueStats],
  };
});
