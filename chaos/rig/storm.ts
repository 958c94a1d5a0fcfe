import { setTimeout as sleep } from "node:timers/promises";
import {
  DATABASE_FAULTS,
  type DatabaseFault,
  PROCESS_FAULTS,
  type ProcessFault,
  type Scene,
} from "./faults.ts";
import type { Random } from "./random.ts";

/** How often each fault comes, against the others of its kind. */
export interface Weather {
  readonly processes: Readonly<Partial<Record<ProcessFault, number>>>;
  readonly database: Readonly<Partial<Record<DatabaseFault, number>>>;
}

export const ALL_WEATHER: Weather = {
  processes: { kill: 5, "kill-several": 2, pause: 3, "pause-past-lease": 2, "pause-with-answer": 2, roll: 4 },
  database: {
    "database-kill": 3,
    "database-freeze": 3,
    "backends-ended": 3,
    cut: 3,
    "cut-off": 2,
    stall: 3,
    "stall-past-lease": 1,
    late: 3,
    "late-claim": 2,
    delay: 2,
    hole: 3,
    deaf: 2,
  },
};

/** Two lanes: what happens to processes and what happens to their database do not wait for each other. */
export async function rage(
  scene: Omit<Scene, "random">,
  weather: Weather,
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  const lanes = [
    lane(weather.processes, PROCESS_FAULTS, { ...scene, random: random.fork() }, signal),
    lane(weather.database, DATABASE_FAULTS, { ...scene, random: random.fork() }, signal),
  ];
  await Promise.all(lanes);
}

async function lane<Name extends string>(
  weights: Readonly<Partial<Record<Name, number>>>,
  faults: Readonly<Record<Name, (scene: Scene) => Promise<void>>>,
  scene: Scene,
  signal: AbortSignal,
): Promise<void> {
  if (Object.keys(weights).length === 0) return;
  while (!signal.aborted) {
    await sleep(scene.random.between(300, 3_500), undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    await faults[scene.random.weighted(weights)](scene);
  }
}
