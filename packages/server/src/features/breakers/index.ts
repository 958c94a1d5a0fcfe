import { defineFeature } from "../feature.ts";
import { registerBreakerRoutes } from "./routes.ts";
import { createBreakerService } from "./service.ts";
import { forgetCounts } from "./store.ts";

/** Small enough that no statement holds locks for long. */
const BATCH = 1_000;

/** Shows and closes circuit breakers. The engine opens them and keeps tasks back: see engine/breakers.ts. */
export const breakers = defineFeature(({ databases, events, inTeamTurn }) => {
  const service = createBreakerService({ database: databases.api, onChanged: events.notice, inTeamTurn });
  return {
    service,
    routes: [(app) => registerBreakerRoutes(app, service)],
    retention: [(sql) => forgetCounts(sql, BATCH)],
  };
});
