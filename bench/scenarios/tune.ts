import { peers } from "../subjects/peers.ts";
import type { Subject } from "../subjects/subject.ts";
import { type Bench, manySlots, type Scenario, type Variant, withRig } from "./scenario.ts";

/** Jobs at once for BullMQ and graphile-worker, jobs in a batch for pg-boss. */
const tried: Record<string, number[]> = {
  bullmq: [32, 64, 128, 256],
  "pg-boss": [50, 100, 200, 400],
  "graphile-worker": [24, 64, 128, 256],
};

/** By this the settings in bench/peers/README.md are found; a run of all scenarios has no use for it. */
export const tune: Scenario = {
  name: "tune",
  about: "the peers at several settings: which is their best?",
  isLight: false,
  isOnDemand: true,
  starts: 3,
  variants: peers.flatMap((subject) =>
    (tried[subject.name] ?? []).map((atOnce): Variant => {
      return {
        name: `${subject.name} ${atOnce}`,
        subject,
        measure: (bench) => measure(subject, atOnce, bench),
      };
    }),
  ),
};

async function measure(subject: Subject, atOnce: number, bench: Bench): Promise<void> {
  const { count, warmUp, grouped } = bench.options;
  await withRig(subject, { concurrency: manySlots, grouped, atOnce }, async (rig) => {
    await rig.runClosed(warmUp, 64);
    const measured = await rig.runClosed(count, 64);
    bench.check("tune", measured.load);
    bench.record("tasks/s", measured.load.tasksPerSecond);
    const { main, helpers, database } = measured.cpuMicros;
    bench.record("CPU µs/task, all", main + helpers + database);
  });
}
