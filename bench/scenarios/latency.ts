import type { Subject } from "../subjects/subject.ts";
import { type Bench, forEach, manySlots, type Scenario, warmUp, withRig } from "./scenario.ts";

export const latencyRates = [250, 1000, 1500];

export function latency(subjects: Subject[]): Scenario {
  return {
    name: "latency",
    about: `ms at ${latencyRates.join(", ")} tasks a second: accept is submission → 201, called is 201 → arrival`,
    isLight: true,
    variants: forEach(subjects, measure),
  };
}

async function measure(subject: Subject, bench: Bench): Promise<void> {
  const { seconds } = bench.options;
  await withRig(subject, { concurrency: manySlots }, async (rig) => {
    await warmUp(rig, bench.options);
    for (const rate of latencyRates) {
      const { load, cpuMicros } = await rig.runOpen(rate * seconds, rate);
      bench.check(`${rate}/s`, load);
      bench.record(`${rate}/s: accept p50`, load.acceptMs.p50);
      bench.record(`${rate}/s: accept p99`, load.acceptMs.p99);
      bench.record(`${rate}/s: called p50`, load.acceptToCallMs.p50);
      bench.record(`${rate}/s: submit → called p50`, load.submitToCallMs.p50);
      bench.record(`${rate}/s: database µs/task`, cpuMicros.database);
    }
  });
}
