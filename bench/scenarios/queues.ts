import { bellhop } from "../subjects/bellhop.ts";
import { payloadFor } from "../subjects/subject.ts";
import {
  type Bench,
  manySlots,
  recordCpu,
  recordPostgres,
  type Scenario,
  warmUp,
  withBellhop,
} from "./scenario.ts";

const tasks = 10_000;

export const queues: Scenario = {
  name: "queues",
  about: "10,000 tasks into 1,000 queues in turn, and into one",
  isLight: true,
  variants: [1, 1000].map((count) => ({
    name: count === 1 ? "1 queue" : "1,000 queues",
    subject: bellhop,
    measure: (bench) => measure(count, bench),
  })),
};

async function measure(count: number, bench: Bench): Promise<void> {
  await withBellhop({}, async (rig) => {
    const names = Array.from({ length: count }, (_, index) => `lane-${index}`);
    for (const name of names) await rig.subject.ask("POST", "/v1/queues", { name, concurrency: manySlots });
    await warmUp(rig, bench.options);
    const measured = await rig.runClosed(tasks, 64, {
      bodies: (seq, url) =>
        names.map((queue) => JSON.stringify({ queue, webhook_url: url, payload: payloadFor(seq) })),
    });
    bench.check(`${count} queues`, measured.load);
    bench.record("tasks/s", measured.load.tasksPerSecond);
    recordCpu(bench, measured);
    recordPostgres(bench, measured);
  });
}
