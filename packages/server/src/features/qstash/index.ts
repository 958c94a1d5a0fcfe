import type { Reach } from "../../domain/reach.ts";
import { readTeamUsage } from "../../store/team-usage.ts";
import { defineFeature } from "../feature.ts";
import type { FlowService } from "../flow-control/index.ts";
import type { ScheduleService } from "../schedules/index.ts";
import { registerQstashRoutes } from "./routes.ts";
import { registerUrlGroupRoutes } from "./routes-url-groups.ts";
import { createFlowControlService } from "./service-flows.ts";
import { createUrlGroupService } from "./service-groups.ts";
import { createMessageService } from "./service-messages.ts";
import { createPublishService } from "./service-publish.ts";
import { createMessageQueueService } from "./service-queues.ts";
import { createRetryMessage } from "./service-retries.ts";
import { createMessageScheduleService } from "./service-schedules.ts";
import { removeOldMessageKeys } from "./store.ts";

export { createFanOut } from "./service-schedules.ts";
export { createMessageCalls } from "./worker.ts";

/** Small enough that no statement holds locks or writes WAL for long. */
const BATCH = 1_000;

/** The API of QStash under /v2, so that its client works against this server. Every message is a task. */
export const qstash = defineFeature((core, schedules: ScheduleService, flows: FlowService) => {
  const { databases, tasks, queues, changes, refuseUrl, messageKeys, json, loop, time, storageQuota } = core;
  const now = () => new Date(time.nowMs());
  const publish = createPublishService({
    database: databases.api,
    tasks,
    queues,
    changes,
    refuseUrl,
    loop,
    now,
  });
  const messages = createMessageService({ database: databases.api, tasks });
  const messageQueues = createMessageQueueService({ queues });
  const messageSchedules = createMessageScheduleService({ schedules, publish, refuseUrl, now });
  const groups = createUrlGroupService({ database: databases.api, refuseUrl, storageQuota });
  const callsInFlight = async (reach: Reach) => (await readTeamUsage(databases.api, reach)).callsInFlight;
  const deps = {
    publish,
    messages,
    messageQueues,
    messageSchedules,
    groups,
    retry: createRetryMessage({ database: databases.api, tasks, publish, refuseUrl, now }),
    keys: messageKeys,
    callsInFlight,
    flowControl: createFlowControlService(flows),
    json,
    loop,
    now,
  };
  return {
    publish,
    routes: [(app) => registerUrlGroupRoutes(app, groups)],
    others: [
      {
        prefix: "/v2",
        routes: [(app) => registerQstashRoutes(app, deps)],
      },
    ],
    retention: [async (sql) => (await removeOldMessageKeys(sql, BATCH)) === BATCH],
  };
});
