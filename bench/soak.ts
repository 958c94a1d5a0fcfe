import type { Options } from "./options.ts";
import { findProblems } from "./problems.ts";
import { readUsage } from "./process-usage.ts";
import { createRig, type Measurement } from "./rig.ts";
import type { Subject } from "./subjects/subject.ts";

export interface SoakTenth {
  tenth: number;
  measurement: Measurement;
  rssMb: number;
}

export interface Soak {
  subject: string;
  tenths: SoakTenth[];
  problems: string[];
}

/** Many tasks through one start: does it slow down, does it grow? */
export async function soakSubject(
  subject: Subject,
  options: Options,
  onTenth: (tenth: SoakTenth) => void,
): Promise<Soak> {
  const soak: Soak = { subject: subject.name, tenths: [], problems: [] };
  const rig = await createRig(subject, options.concurrency);
  try {
    for (let tenth = 1; tenth <= 10; tenth++) {
      const measurement = await rig.runClosed(Math.ceil(options.soak / 10), options.connections);
      const result = { tenth, measurement, rssMb: readUsage(rig.subjectPid).rssMb };
      soak.tenths.push(result);
      soak.problems.push(...findProblems(`${subject.name}, tenth ${tenth}`, measurement.load));
      onTenth(result);
    }
    return soak;
  } finally {
    await rig.stop();
  }
}
