import { tellStories } from "../chaos/checker/stories.ts";
import { drawTimeline } from "../chaos/checker/timeline.ts";
import { PROMISES } from "../chaos/checker/violation.ts";
import { type Options, type Run, simulate } from "./simulate.ts";

/** What many runs amounted to. */
export interface Sweep {
  readonly seeds: number;
  readonly tasks: number;
  readonly calls: number;
  readonly faults: number;
  readonly simulatedMs: number;
  /** The first runs that broke a promise. */
  readonly failed: readonly { readonly seed: number; readonly run: Run }[];
}

/** Runs one seed after the other, until so many have failed. */
export async function sweep(
  options: Omit<Options, "seed"> & {
    readonly from: number;
    readonly seeds: number;
    readonly mostFailed: number;
    readonly isFailed?: (run: Run) => boolean;
    readonly onSeed?: (seed: number, isFailed: boolean) => void;
  },
): Promise<Sweep> {
  const { from, isFailed = ({ violations }) => violations.length > 0 } = options;
  const failed: { seed: number; run: Run }[] = [];
  // An error for every lost statement: where each came from is told by the run of its seed alone, and costs a tenth of all.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const sums = { seeds: 0, tasks: 0, calls: 0, faults: 0, simulatedMs: 0 };
  for (let seed = from; seed < from + options.seeds && failed.length < options.mostFailed; seed += 1) {
    const run = await simulate({ ...options, seed });
    const { history } = run;
    sums.seeds += 1;
    sums.tasks += history.rest.tasks.length;
    sums.calls += history.seen.length;
    sums.faults += history.faults.length;
    sums.simulatedMs += history.endedAt;
    const hasFailed = isFailed(run);
    if (hasFailed) failed.push({ seed, run });
    options.onSeed?.(seed, hasFailed);
    // A run lives in ticks and promises alone: between two, the rest of the process gets its turn.
    await new Promise(setImmediate);
  }
  Error.stackTraceLimit = stackTraceLimit;
  return { ...sums, failed };
}

/** Each violation with the timeline of its task. */
export function describeRun({ history, violations }: Run): string {
  const stories = tellStories(history);
  return violations
    .flatMap(({ promise, text, taskId, at }) => [
      `VIOLATED ${promise}, ${PROMISES[promise]}`,
      `  ${taskId ?? ""}${at === null ? "" : ` at ${(at / 1000).toFixed(3)} s`}: ${text}`,
      ...(taskId === null ? [] : drawTimeline(stories.find(taskId), history)),
      "",
    ])
    .join("\n");
}
