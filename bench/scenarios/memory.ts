import { bellhop } from "../subjects/bellhop.ts";
import { fillDelayed } from "./backlog.ts";
import { watchIdle } from "./idle.ts";
import { type Bench, type Scenario, withBellhop } from "./scenario.ts";

export const memory: Scenario = {
  name: "memory",
  about:
    "the service with 1,000,000 tasks that are not yet due, and with none: memory, and what idling costs",
  isLight: false,
  starts: 1,
  variants: [
    { name: "none", subject: bellhop, measure: (bench) => measure(0, bench) },
    {
      name: "1,000,000",
      subject: bellhop,
      measure: (bench) => measure(bench.options.rows(1_000_000), bench),
    },
  ],
};

async function measure(count: number, bench: Bench): Promise<void> {
  await withBellhop({}, async (rig) => {
    if (count > 0) await fillDelayed(rig, count, 5);
    const { load } = await rig.runClosed(bench.options.count, 64);
    bench.check("memory", load);
    bench.record("tasks/s", load.tasksPerSecond);
    await watchIdle(rig, bench);
    bench.record("RSS MB", rig.readUsage().rssMb);
  });
}
