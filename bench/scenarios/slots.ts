import type { Subject } from "../subjects/subject.ts";
import {
  type Bench,
  forEach,
  recordCpu,
  recordPostgres,
  type Scenario,
  warmUp,
  withRig,
} from "./scenario.ts";

const concurrency = 16;
const connections = 64;

/** Many starts: which plan a claim is given once and keeps is decided in the first moments of each. */
export function slots(subjects: Subject[]): Scenario {
  return {
    name: "slots",
    about: `all slots taken (concurrency ${concurrency}, ${connections} connections): tasks wait and are claimed`,
    isLight: true,
    starts: 20,
    variants: forEach(subjects, measure),
  };
}

async function measure(subject: Subject, bench: Bench): Promise<void> {
  const { count } = bench.options;
  await withRig(subject, { concurrency, claims: true }, async (rig) => {
    await warmUp(rig, bench.options, connections);
    const measured = await rig.runClosed(count, connections);
    bench.check("slots taken", measured.load);
    bench.record("tasks/s", measured.load.tasksPerSecond);
    recordCpu(bench, measured);
    recordPostgres(bench, measured);
  });
}
