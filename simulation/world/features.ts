import { createRandom } from "../../chaos/rig/random.ts";
import { createBrokenHost } from "./broken-host.ts";
import { createDedupedTasks } from "./deduped-tasks.ts";
import type { Feature, FeatureParts } from "./feature.ts";
import { createRankedQueue } from "./ranked-queue.ts";
import { createRatedQueue } from "./rated-queue.ts";

/** What some runs have beside plain tasks and flows. Each seed has a few: each costs, and all at once would hide each other. */
export const FEATURES = ["rates", "dedupe", "ranks", "breakers"] as const;
export type FeatureName = (typeof FEATURES)[number];

const CREATE: Readonly<Record<FeatureName, (parts: FeatureParts) => Feature>> = {
  rates: createRatedQueue,
  dedupe: createDedupedTasks,
  ranks: createRankedQueue,
  breakers: createBrokenHost,
};

export function drawFeatures(seed: number): readonly FeatureName[] {
  const random = createRandom(seed ^ 0x2545f491);
  return FEATURES.filter(() => random.chance(0.2));
}

export function createFeatures(
  seed: number,
  names: readonly FeatureName[],
  parts: Omit<FeatureParts, "random">,
): readonly Feature[] {
  return names.map((name) =>
    CREATE[name]({ ...parts, random: createRandom(seed ^ (0x9e3779b9 * (FEATURES.indexOf(name) + 1))) }),
  );
}
