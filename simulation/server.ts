import { pathToFileURL } from "node:url";
import type { lookUp } from "../packages/server/src/domain/json/look-up.ts";
import type { createLimitsOf } from "../packages/server/src/domain/limits.ts";
import type { Problem } from "../packages/server/src/domain/problem.ts";
import type { createTaskChanges } from "../packages/server/src/domain/task-changes.ts";
import type { createEngine } from "../packages/server/src/engine/engine.ts";
import type { createOutgoing } from "../packages/server/src/engine/outgoing.ts";
import type { createBreakerService } from "../packages/server/src/features/breakers/service.ts";
import type { insertBulk, insertPortion } from "../packages/server/src/features/bulk-actions/store.ts";
import type { createBulkWorker } from "../packages/server/src/features/bulk-actions/worker.ts";
import type { createScheduleRunner } from "../packages/server/src/features/schedules/service-runner.ts";
import type { insertSchedule, updateSchedule } from "../packages/server/src/features/schedules/store.ts";
import type { createBudgetLookup } from "../packages/server/src/service/access/team-budgets.ts";
import type { createEventFeed } from "../packages/server/src/service/tasks/event-feed.ts";
import type { createEventSerializer } from "../packages/server/src/service/tasks/event-serializer.ts";
import type { createQueueService } from "../packages/server/src/service/tasks/queue-service.ts";
import type { createDeduplication } from "../packages/server/src/service/tasks/task-deduplication.ts";
import type { joinTasks } from "../packages/server/src/service/tasks/task-joins.ts";
import type { createTaskService } from "../packages/server/src/service/tasks/task-service.ts";
import type { callbackStatus, resolveCallback } from "../packages/server/src/store/tasks/callbacks.ts";
import type { removeOldDedupeKeys } from "../packages/server/src/store/tasks/dedupe-keys.ts";
import type { findTakenKey } from "../packages/server/src/store/tasks/idempotency-keys.ts";
import type {
  findQueue,
  insertQueue,
  setQueueBreaker,
  setQueueRate,
} from "../packages/server/src/store/tasks/queues.ts";
import type { findTask } from "../packages/server/src/store/tasks/task-reads.ts";
import type { removePendingTask, taskStatus } from "../packages/server/src/store/tasks/task-removals.ts";

/** The parts of a built server that are simulated as they are: everything from the engine to the store's door. */
export interface Server {
  readonly createEngine: typeof createEngine;
  readonly createOutgoing: typeof createOutgoing;
  readonly createBudgetLookup: typeof createBudgetLookup;
  readonly createLimitsOf: typeof createLimitsOf;
  readonly lookUp: typeof lookUp;
  readonly createQueueService: typeof createQueueService;
  readonly createTaskService: typeof createTaskService;
  readonly createDeduplication: typeof createDeduplication;
  readonly joinTasks: typeof joinTasks;
  readonly findTakenKey: typeof findTakenKey;
  readonly removeOldDedupeKeys: typeof removeOldDedupeKeys;
  readonly createBulkWorker: typeof createBulkWorker;
  readonly createScheduleRunner: typeof createScheduleRunner;
  readonly insertSchedule: typeof insertSchedule;
  readonly updateSchedule: typeof updateSchedule;
  readonly createEventFeed: typeof createEventFeed;
  readonly createEventSerializer: typeof createEventSerializer;
  readonly findQueue: typeof findQueue;
  readonly insertQueue: typeof insertQueue;
  readonly setQueueRate: typeof setQueueRate;
  readonly setQueueBreaker: typeof setQueueBreaker;
  readonly createBreakerService: typeof createBreakerService;
  readonly insertBulk: typeof insertBulk;
  readonly insertPortion: typeof insertPortion;
  readonly removePendingTask: typeof removePendingTask;
  readonly findTask: typeof findTask;
  readonly taskStatus: typeof taskStatus;
  readonly resolveCallback: typeof resolveCallback;
  readonly callbackStatus: typeof callbackStatus;
  readonly createTaskChanges: typeof createTaskChanges;
  readonly Problem: typeof Problem;
}

/** From a `dist` directory: the one that ships, or a copy with a bug in it. */
export async function loadServer(distDir: string): Promise<Server> {
  const files = [
    "engine/engine.js",
    "engine/outgoing.js",
    "service/tasks/queue-service.js",
    "service/tasks/task-service.js",
    "service/tasks/task-deduplication.js",
    "service/tasks/task-joins.js",
    "store/tasks/dedupe-keys.js",
    "store/tasks/idempotency-keys.js",
    "features/bulk-actions/worker.js",
    "features/breakers/service.js",
    "features/schedules/service-runner.js",
    "service/tasks/event-feed.js",
    "service/tasks/event-serializer.js",
    "features/bulk-actions/store.js",
    "features/schedules/store.js",
    "store/tasks/queues.js",
    "store/tasks/task-reads.js",
    "store/tasks/task-removals.js",
    "store/tasks/callbacks.js",
    "service/access/team-budgets.js",
    "domain/json/look-up.js",
    "domain/limits.js",
    "domain/problem.js",
    "domain/task-changes.js",
  ];
  const modules = await Promise.all(files.map((file) => import(pathToFileURL(`${distDir}/${file}`).href)));
  return Object.assign({}, ...modules);
}
