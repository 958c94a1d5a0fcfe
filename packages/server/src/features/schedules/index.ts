import { INSERT_BYTES, INSERT_ROWS } from "../../store/tasks/submission.ts";
import { defineFeature } from "../feature.ts";
import { registerScheduleRoutes } from "./routes.ts";
import { createScheduleService } from "./service.ts";
import type { FanOut } from "./service-fan-out.ts";
import { createScheduleRunner } from "./service-runner.ts";
import { readFailedFirings } from "./store-firings.ts";

export type { Schedule, ScheduleTerms } from "./domain.ts";
export { SCHEDULE_DEFAULTS } from "./domain.ts";
export type { ScheduleService } from "./service.ts";
export type { FanOut } from "./service-fan-out.ts";
export type { ScheduleRunner } from "./service-runner.ts";

/** Creates tasks by cron expressions and intervals. */
export const schedules = defineFeature((core, fanOut: FanOut) => {
  const { databases, tasks, termsOf, changes, tracing, refuseUrl, storageQuota } = core;
  const deps = {
    database: databases.api,
    accept: tasks.accept,
    checkTask: tasks.check,
    storageQuota,
    termsOf,
    changes,
    fanOut,
    traceFirings: tracing?.ofFirings,
  };
  const service = createScheduleService(deps);
  const runner = createScheduleRunner(deps);
  return {
    service,
    runner,
    /** The most firings in a row that failed; null without schedules. */
    failedFirings: (teamId: number, most: number) => readFailedFirings(databases.chores, teamId, most),
    routes: [(app) => registerScheduleRoutes(app, { schedules: service, refuseUrl })],
    actors: [
      {
        name: "scheduler",
        once: runner.fireOnce,
        cost: { rows: INSERT_ROWS, bytes: INSERT_BYTES, turns: "in turn" },
      },
    ],
  };
});
