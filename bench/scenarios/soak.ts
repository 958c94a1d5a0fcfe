import { bellhop } from "../subjects/bellhop.ts";
import { type Bench, manySlots, type Scenario, withRig } from "./scenario.ts";

export const soak: Scenario = {
  name: "soak",
  about: "500,000 tasks in a row through one start: does it slow down, does it grow?",
  isLight: false,
  starts: 1,
  variants: [{ name: "bellhop", subject: bellhop, measure }],
};

async function measure(bench: Bench): Promise<void> {
  const tenthOfAll = Math.ceil(bench.options.rows(500_000) / 10);
  await withRig(bellhop, { concurrency: manySlots }, async (rig) => {
    for (let tenth = 1; tenth <= 10; tenth++) {
      const { load, cpuMicros } = await rig.runClosed(tenthOfAll, 64);
      bench.check(`tenth ${tenth}`, load);
      bench.record(`tenth ${tenth}: tasks/s`, load.tasksPerSecond);
      if (tenth !== 2 && tenth !== 10) continue;
      bench.record(`tenth ${tenth}: database µs/task`, cpuMicros.database);
      bench.record(`tenth ${tenth}: RSS MB`, rig.readUsage().rssMb);
    }
  });
}
