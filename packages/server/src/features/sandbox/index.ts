import { type RoundCost, TOLD } from "../../engine/round-cost.ts";
import { defineFeature } from "../feature.ts";
import type { ScheduleRunner } from "../schedules/index.ts";
import { registerSandboxRoutes } from "./routes.ts";
import { createSandboxService } from "./service.ts";
import { MOST_OF_FLOW } from "./service-flows.ts";
import { createSandboxWalk, FLOWS_TOGETHER, STEPS_TOGETHER } from "./service-walk.ts";

/** Of a simulated task: its call without the body, and the body of its answer. */
const SIMULATED = 2 * TOLD;
const COST: RoundCost = {
  rows: STEPS_TOGETHER + FLOWS_TOGETHER * (MOST_OF_FLOW + 1),
  bytes: (STEPS_TOGETHER + MOST_OF_FLOW) * SIMULATED,
  turns: "oldest first",
};

/** Moves the tasks of test keys through their states without a call, on a clock that the team can advance. */
export const sandbox = defineFeature(
  ({ databases, changes, random, time, inTeamTurn }, runner: Pick<ScheduleRunner, "fireAhead">) => {
    const database = databases.api;
    const walk = createSandboxWalk({ database, random, nowMs: time.nowMs, changes });
    const service = createSandboxService({ database, walk, schedules: runner, inTeamTurn });
    return {
      service,
      walk,
      routes: [(app) => registerSandboxRoutes(app, service)],
      actors: [{ name: "sandbox", once: walk.walkOnce, cost: COST }],
    };
  },
);
