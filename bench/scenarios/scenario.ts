import type { LoadResult } from "../load/load-job.ts";
import { createRig, type Measurement, type Rig, type RunOptions } from "../rig.ts";
import type { Options } from "../run-options.ts";
import { type BellhopSetting, type RunningBellhop, startBellhop } from "../subjects/bellhop.ts";
import type { Subject } from "../subjects/subject.ts";

export interface Scenario {
  name: string;
  about: string;
  /** Short enough for --quick. */
  isLight: boolean;
  /** Runs only when it is named. */
  isOnDemand?: boolean;
  /** Where the usual number of process starts is not the right one. */
  starts?: number;
  /** They take turns, start by start. */
  variants: Variant[];
}

export interface Variant {
  name: string;
  subject: Subject;
  /** One process start, with everything that is measured in it. */
  measure(bench: Bench): Promise<void>;
}

export interface Bench {
  options: Options;
  record(measure: string, value: number): void;
  /** Records under the name of another variant, where one start measures several. */
  of(variant: string): Bench;
  /** A measurement that lost or was refused tasks is no measurement: said at the end, and in the exit code. */
  check(what: string, result: LoadResult): void;
}

// More than any scenario has connections: no call waits for a slot, unless that is what the scenario is about.
export const manySlots = 256;

/** One variant for each subject, all measured in the same way. */
export function forEach(
  subjects: Subject[],
  measure: (subject: Subject, bench: Bench) => Promise<void>,
): Variant[] {
  return subjects.map((subject) => ({
    name: subject.name,
    subject,
    measure: (bench) => measure(subject, bench),
  }));
}

export async function withRig(
  subject: Subject,
  setting: { concurrency: number; claims?: boolean; grouped?: boolean; atOnce?: number },
  use: (rig: Rig) => Promise<void>,
): Promise<void> {
  const rig = await createRig((place) =>
    subject.start({ claims: false, grouped: false, ...place, ...setting }),
  );
  await use(rig).finally(rig.stop);
}

/** With a database that the bench can write to, and as many nodes as are wanted. */
export async function withBellhop(
  setting: Partial<
    Pick<BellhopSetting, "nodes" | "concurrency" | "env" | "requestsPerMinute" | "ownDatabase">
  >,
  use: (rig: Rig<RunningBellhop>) => Promise<void>,
): Promise<void> {
  const rig = await createRig((place) =>
    startBellhop({
      ...place,
      claims: false,
      grouped: false,
      ownDatabase: false,
      nodes: 1,
      concurrency: manySlots,
      ...setting,
    }),
  );
  await use(rig).finally(rig.stop);
}

/**
 * The warm-up has several runs, each of which closes its connections at its end. The first connections that close make V8 discard
 * functions that it optimised before it had seen one close. A server in use is past that.
 */
export async function warmUp(
  rig: Rig,
  { warmUp, warmUpRuns }: Pick<Options, "warmUp" | "warmUpRuns">,
  connections = 64,
  options: RunOptions = {},
): Promise<LoadResult[]> {
  const results: LoadResult[] = [];
  for (let run = 0; run < warmUpRuns; run += 1) {
    const count = Math.ceil((warmUp * (run + 1)) / warmUpRuns) - Math.ceil((warmUp * run) / warmUpRuns);
    results.push((await rig.runClosed(count, connections, options)).load);
  }
  return results;
}

export function recordCpu(bench: Bench, { cpuMicros }: Measurement, where = ""): void {
  bench.record(`CPU µs/task, main thread${where}`, cpuMicros.main);
  bench.record(`helper threads${where}`, cpuMicros.helpers);
  bench.record(`database${where}`, cpuMicros.database);
}

/** What medians of tasks/s hide. */
export function recordPostgres(bench: Bench, { postgres }: Measurement): void {
  if (postgres === null) return;
  bench.record("of it autovacuum", postgres.autovacuumMicros);
  bench.record("WAL bytes/task", postgres.walBytes);
  bench.record("HOT share of updates, %", postgres.hotShare);
}
