import { defineFeature } from "../feature.ts";
import { registerScheduleRoutes } from "./routes.ts";
import { createScheduleService } from "./service.ts";
import { createScheduleRunner, type ExpandTask } from "./service-runner.ts";
import { readFailedFirings } from "./store-firings.ts";

export type { Schedule, ScheduleTerms } from "./domain.ts";
export { SCHEDULE_DEFAULTS } from "./domain.ts";
export type { ScheduleService } from "./service.ts";
export type { ExpandTask, ScheduleRunner } from "./service-runner.ts";

/** Creates tasks by cron expressions and intervals. */
export const schedules = defineFeature((core, expand: ExpandTask) => {
  const { databases, tasks, termsOf, changes, tracing, refuseUrl } = core;
  const deps = {
    database: databases.api,
    accept: tasks.accept,
    termsOf,
    changes,
    expand,
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
    actors: [{ name: "scheduler", once: runner.fireOnce }],
  };
});
