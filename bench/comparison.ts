import type { Options } from "./options.ts";
import { findProblems } from "./problems.ts";
import { readUsage, type Usage } from "./process-usage.ts";
import { createRig, type Measurement } from "./rig.ts";
import type { Subject } from "./subjects/subject.ts";

// Enough for the compiler of Node to have seen the hot path, and for every connection to be open.
const warmUpTasks = 2000;

export interface StartResult {
  subject: string;
  throughput: Measurement;
  latency: Measurement;
  usage: Usage;
}

export interface Comparison {
  latencyRate: number;
  starts: StartResult[];
  problems: string[];
}

/** Subjects take turns, so that a slow minute of a shared machine falls on all of them. */
export async function compareSubjects(
  subjects: Subject[],
  options: Options,
  onStart: (result: StartResult) => void,
): Promise<Comparison> {
  const comparison: Comparison = { latencyRate: options.rate, starts: [], problems: [] };
  for (let start = 1; start <= options.starts; start++) {
    for (const subject of subjects) {
      const what = `${subject.name}, start ${start}`;
      let result: StartResult;
      try {
        result = await measureStart(subject, options, comparison);
      } catch (error) {
        // Minutes of measurements are worth showing even if this one failed; the exit code tells.
        comparison.problems.push(`${what}: ${error instanceof Error ? error.message : error}`);
        return comparison;
      }
      comparison.starts.push(result);
      comparison.problems.push(
        ...findProblems(`${what}, throughput`, result.throughput.load),
        ...findProblems(`${what}, latency`, result.latency.load),
      );
      onStart(result);
    }
  }
  return comparison;
}

async function measureStart(
  subject: Subject,
  options: Options,
  comparison: Comparison,
): Promise<StartResult> {
  const rig = await createRig(subject, options.concurrency);
  try {
    await rig.runClosed(warmUpTasks, options.connections);
    const throughput = await rig.runClosed(options.count, options.connections);
    // One rate for all subjects and starts: latencies at different loads cannot be compared.
    comparison.latencyRate ||= Math.max(1, Math.round(throughput.load.tasksPerSecond / 4));
    const rate = comparison.latencyRate;
    const latency = await rig.runOpen(rate * options.seconds, rate);
    return { subject: subject.name, throughput, latency, usage: readUsage(rig.subjectPid) };
  } finally {
    await rig.stop();
  }
}
