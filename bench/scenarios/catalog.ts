import { bellhop } from "../subjects/bellhop.ts";
import { subjects } from "../subjects/catalog.ts";
import { skeleton } from "../subjects/skeleton.ts";
import { delayed, pending } from "./backlog.ts";
import { failing } from "./failing.ts";
import { searches } from "./filters.ts";
import { flows } from "./flows.ts";
import { handOff } from "./hand-off.ts";
import { idle } from "./idle.ts";
import { inTurns } from "./in-turns.ts";
import { latency } from "./latency.ts";
import { listeners } from "./listeners.ts";
import { lists } from "./lists.ts";
import { memory } from "./memory.ts";
import { polling } from "./polling.ts";
import { qstash } from "./qstash.ts";
import { queues } from "./queues.ts";
import type { Scenario } from "./scenario.ts";
import { schedules } from "./schedules.ts";
import { slots } from "./slots.ts";
import { soak } from "./soak.ts";
import { tune } from "./tune.ts";
import { twoNodes } from "./two-nodes.ts";
import { users } from "./users.ts";

/** In the order in which they run. */
export const scenarios: Scenario[] = [
  handOff(subjects),
  inTurns,
  latency([skeleton, bellhop]),
  slots([skeleton, bellhop]),
  users,
  qstash,
  queues,
  flows,
  idle,
  failing,
  listeners,
  twoNodes,
  pending,
  delayed,
  polling,
  schedules,
  memory,
  soak,
  searches,
  lists,
  tune,
];
