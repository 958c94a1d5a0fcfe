import { setTimeout as sleep } from "node:timers/promises";
import type { Rig } from "../rig.ts";
import { bellhop } from "../subjects/bellhop.ts";
import { type Bench, manySlots, type Scenario, withRig } from "./scenario.ts";

// Starting up is work, and so is the first tidying afterwards; neither is idling.
const settleMs = 5000;
const watchMs = 10_000;

export const idle: Scenario = {
  name: "idle",
  about: "what it costs to run and have nothing to do",
  isLight: true,
  starts: 1,
  variants: [{ name: "bellhop", subject: bellhop, measure }],
};

async function measure(bench: Bench): Promise<void> {
  await withRig(bellhop, { concurrency: manySlots }, async (rig) => {
    // A queue that was used may idle differently.
    await rig.runClosed(100, 10);
    await watchIdle(rig, bench);
    bench.record("RSS MB", rig.readUsage().rssMb);
  });
}

export async function watchIdle(rig: Rig, bench: Bench): Promise<void> {
  await sleep(settleMs);
  const before = rig.readUsage();
  await sleep(watchMs);
  const after = rig.readUsage();
  const percent = (seconds: number) => (seconds * 100_000) / watchMs;
  const own = (usage: typeof before) => usage.mainSeconds + usage.helperSeconds;
  bench.record("% of a core", percent(own(after) - own(before)));
  bench.record("% of a core, database", percent(after.databaseSeconds - before.databaseSeconds));
}
