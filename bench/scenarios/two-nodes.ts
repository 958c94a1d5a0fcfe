import { bellhop } from "../subjects/bellhop.ts";
import { type Bench, recordCpu, type Scenario, withBellhop } from "./scenario.ts";

export const twoNodes: Scenario = {
  name: "two-nodes",
  about:
    "one node and two on one PostgreSQL, connections spread over them; target and load on the same cores",
  isLight: false,
  variants: [1, 2].map((nodes) => ({
    name: nodes === 1 ? "one node" : "two nodes",
    subject: bellhop,
    measure: (bench) => measure(nodes, bench),
  })),
};

async function measure(nodes: number, bench: Bench): Promise<void> {
  await withBellhop({ nodes }, async (rig) => {
    // Each process has to warm up.
    await rig.runClosed(bench.options.warmUp * nodes, 64);
    const measured = await rig.runClosed(bench.options.count, 64);
    bench.check(`${nodes} nodes`, measured.load);
    bench.record("tasks/s", measured.load.tasksPerSecond);
    recordCpu(bench, measured);
    bench.record("RSS MB", rig.readUsage().rssMb);
  });
}
