import { setTimeout as sleep } from "node:timers/promises";
import type { Options } from "./options.ts";
import { readUsage } from "./process-usage.ts";
import { createRig } from "./rig.ts";
import type { Subject } from "./subjects/subject.ts";

// Starting up is work, and so is the first tidying afterwards; neither is idling.
const settleMs = 5000;
const watchMs = 10_000;

export interface Idle {
  subject: string;
  /** Percent of one core. */
  subjectPercent: number;
  postgresPercent: number;
  rssMb: number;
}

/** What it costs to run and have nothing to do. A few tasks go first: a queue that was used may idle differently. */
export async function watchIdle(subject: Subject, options: Options): Promise<Idle> {
  const rig = await createRig(subject, options.concurrency);
  try {
    await rig.runClosed(100, 10);
    await sleep(settleMs);
    const before = readUsage(rig.subjectPid);
    await sleep(watchMs);
    const after = readUsage(rig.subjectPid);
    const percent = (what: "cpuSeconds" | "childrenCpuSeconds") =>
      ((after[what] - before[what]) * 100_000) / watchMs;
    return {
      subject: subject.name,
      subjectPercent: percent("cpuSeconds"),
      postgresPercent: percent("childrenCpuSeconds"),
      rssMb: after.rssMb,
    };
  } finally {
    await rig.stop();
  }
}
