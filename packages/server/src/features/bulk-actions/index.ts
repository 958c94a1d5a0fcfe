import { defineFeature } from "../feature.ts";
import { registerBulkRoutes } from "./routes.ts";
import { createBulkService } from "./service.ts";
import { removeOldBulks } from "./store.ts";
import { BULK_COST, createBulkWorker, type Reopening } from "./worker.ts";

const KEPT_DAYS = 30;
/** Small enough that no statement holds locks or writes WAL for long. */
const BATCH = 1_000;

/** Cancels, retries or deletes every task that matches a filter. */
export const bulkActions = defineFeature(({ databases, changes, follow, termsOf, storageQuota }) => {
  const service = createBulkService({ database: databases.api, chores: databases.chores });
  const reopening: Reopening = async (teamId) => {
    const terms = (await termsOf([teamId])).get(teamId);
    if (terms === undefined || (terms.limits.tasksOpen === null && terms.limits.flowsOpen === null))
      return null;
    return (flow) => storageQuota.reopen(terms, flow);
  };
  const worker = createBulkWorker({ database: databases.chores, changes, follow, reopening });
  return {
    service,
    routes: [(app) => registerBulkRoutes(app, { bulks: service })],
    actors: [{ name: "bulks", once: worker.workOnce, cost: BULK_COST }],
    retention: [async (sql) => (await removeOldBulks(sql, KEPT_DAYS, BATCH)) === BATCH],
  };
});
