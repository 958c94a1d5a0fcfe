import { defineFeature } from "../feature.ts";
import { registerFlowRoutes } from "./routes.ts";
import { createFlowService } from "./service.ts";
import { forgetFlows } from "./store.ts";

export { type Flow, NOTHING_STORED, type StoredLimits } from "./domain.ts";
export type { FlowService } from "./service.ts";

/** Small enough that no statement holds locks or writes WAL for long. */
const BATCH = 1_000;

/** The limits of flows that a team stores, and their pause. The engine keeps the limits: see engine/flows.ts. */
export const flows = defineFeature(({ databases }) => {
  const service = createFlowService({ database: databases.api });
  return {
    service,
    routes: [(app) => registerFlowRoutes(app, service)],
    retention: [(sql) => forgetFlows(sql, BATCH)],
  };
});
