import { WHOLE } from "../../engine/round-cost.ts";
import { defineFeature } from "../feature.ts";
import type { ScheduleRunner } from "../schedules/index.ts";
import { registerSandboxRoutes } from "./routes.ts";
import { createSandboxService } from "./service.ts";
import { createSandboxWalk, STEPS_TOGETHER } from "./service-walk.ts";

/** Moves the tasks of test keys through their states without a call, on a clock that the team can advance. */
export const sandbox = defineFeature(
  ({ databases, changes, random, time }, runner: Pick<ScheduleRunner, "fireAhead">) => {
    const database = databases.api;
    const walk = createSandboxWalk({ database, random, nowMs: time.nowMs, changes });
    const service = createSandboxService({ database, walk, schedules: runner });
    return {
      service,
      walk,
      routes: [(app) => registerSandboxRoutes(app, service)],
      actors: [
        {
          name: "sandbox",
          once: walk.walkOnce,
          cost: { rows: STEPS_TOGETHER, bytes: STEPS_TOGETHER * WHOLE, turns: "oldest first" },
        },
      ],
    };
  },
);
