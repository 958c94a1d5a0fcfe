import { createRig, type Rig } from "../rig.ts";
import { bellhop, bellhopOf } from "../subjects/bellhop.ts";
import { skeleton } from "../subjects/skeleton.ts";
import type { Subject } from "../subjects/subject.ts";
import { type Bench, manySlots, recordCpu, type Scenario, warmUp } from "./scenario.ts";

const connections = 64;
const turns = 8;
const tasksATurn = 5_000;

/**
 * All subjects run at once, and each gets a load of a second or two in its turn. The speed of a shared machine may change from one
 * second to the next: starts that follow each other cannot be compared then, but turns can.
 */
export const inTurns: Scenario = {
  name: "in-turns",
  about: `skeleton and Bellhop running at once, ${turns} loads of ${tasksATurn} tasks in turns, ${connections} connections in a closed loop`,
  isLight: false,
  starts: 3,
  variants: [{ name: bellhop.name, subject: bellhop, measure }],
};

/** `BENCH_BEFORE=<path of a main.js>` adds a third: an earlier build. */
function subjectsNow(): Subject[] {
  const before = process.env.BENCH_BEFORE;
  return [skeleton, bellhop, ...(before === undefined ? [] : [bellhopOf("before", before)])];
}

async function measure(bench: Bench): Promise<void> {
  const running: { readonly rig: Rig; readonly bench: Bench }[] = [];
  try {
    for (const subject of subjectsNow()) {
      const rig = await createRig((place) =>
        subject.start({ ...place, concurrency: manySlots, claims: false, grouped: false }),
      );
      running.push({ rig, bench: bench.of(subject.name) });
      await warmUp(rig, bench.options, connections);
    }
    // The order alternates, so that none is always the first after a change.
    for (let turn = 0; turn < turns; turn += 1) {
      for (const { rig, bench: own } of turn % 2 === 0 ? running : running.toReversed()) {
        const measured = await rig.runClosed(tasksATurn, connections);
        own.check(`turn ${turn + 1}`, measured.load);
        own.record("tasks/s", measured.load.tasksPerSecond);
        recordCpu(own, measured);
        const { main, helpers, database } = measured.cpuMicros;
        own.record("sum of the three", main + helpers + database);
      }
    }
  } finally {
    for (const { rig } of running) await rig.stop();
  }
}
