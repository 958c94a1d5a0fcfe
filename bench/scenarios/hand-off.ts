import type { Subject } from "../subjects/subject.ts";
import {
  type Bench,
  forEach,
  manySlots,
  recordCpu,
  recordPostgres,
  type Scenario,
  warmUp,
  withRig,
} from "./scenario.ts";

const few = 64;
const many = 256;
// Enough that what happens now and then does not count, few enough for counting to be slow.
const counted = 4_000;

export function handOff(subjects: Subject[]): Scenario {
  return {
    name: "hand-off",
    about: `tasks a second while slots are free, ${few} and ${many} connections that submit in a closed loop`,
    isLight: true,
    variants: forEach(subjects, measure),
  };
}

async function measure(subject: Subject, bench: Bench): Promise<void> {
  const { count, grouped } = bench.options;
  await withRig(subject, { concurrency: manySlots, grouped }, async (rig) => {
    for (const load of await warmUp(rig, bench.options, few)) bench.check("warm-up", load);
    const atFew = await rig.runClosed(count, few);
    bench.check(`${few} connections`, atFew.load);
    bench.record(`tasks/s, ${few} connections`, atFew.load.tasksPerSecond);
    const atMany = await rig.runClosed(count, many);
    bench.check(`${many} connections`, atMany.load);
    bench.record(`${many} connections`, atMany.load.tasksPerSecond);
    recordCpu(bench, atFew);
    recordPostgres(bench, atFew);
    bench.record("RSS MB", rig.readUsage().rssMb);
    // Last, and not timed: counting slows the subject down for good.
    const work = await rig.countWork(counted, few);
    if (work === null) return;
    bench.record("allocated kB/task", work.allocatedKb);
    bench.record("promises/task", work.promises);
  });
}
