import { tellStories } from "../chaos/checker/stories.ts";
import { drawTimeline } from "../chaos/checker/timeline.ts";
import { PROMISES } from "../chaos/checker/violation.ts";
import type { Done } from "./model/session.ts";
import { STATEMENT_NAMES } from "./model/statements.ts";
import { type Options, type Run, simulate } from "./simulate.ts";
import { NODE_FAULTS, STATEMENT_FAULTS } from "./world/storm.ts";

/** What many runs amounted to. */
export interface Sweep {
  readonly seeds: number;
  readonly tasks: number;
  readonly calls: number;
  readonly faults: number;
  readonly simulatedMs: number;
  /** How often each statement was carried out, and each fault met. */
  readonly met: {
    readonly statements: ReadonlyMap<string, number>;
    readonly faults: ReadonlyMap<string, number>;
  };
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
  const met = { statements: new Map<string, number>(), faults: new Map<string, number>() };
  const onStatement = (done: Done) => {
    add(met.statements, done.query.name, 1);
    options.onStatement?.(done);
  };
  const sums = { seeds: 0, tasks: 0, calls: 0, faults: 0, simulatedMs: 0 };
  for (let seed = from; seed < from + options.seeds && failed.length < options.mostFailed; seed += 1) {
    const run = await simulate({ ...options, seed, onStatement });
    const { history } = run;
    for (const [fault, count] of run.faultsMet) add(met.faults, fault, count);
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
  return { ...sums, met, failed };
}

function add(counts: Map<string, number>, name: string, count: number): void {
  counts.set(name, (counts.get(name) ?? 0) + count);
}

/** Everything that there is with how often it was met, the rarest last; what was never met stands by itself. */
export function describeMet({ met }: Pick<Sweep, "met">): string {
  const describe = (what: string, counts: ReadonlyMap<string, number>, all: readonly string[]) => {
    const names = [...new Set([...all, ...counts.keys()])];
    const seen = names.filter((name) => counts.has(name));
    seen.sort((one, other) => (counts.get(other) ?? 0) - (counts.get(one) ?? 0));
    const never = names.filter((name) => !counts.has(name));
    return [
      `${what}: ${seen.map((name) => `${name} ${counts.get(name)}`).join(", ")}`,
      `${what} never met: ${never.join(", ") || "none"}`,
    ];
  };
  return [
    ...describe("statements", met.statements, STATEMENT_NAMES),
    ...describe("faults", met.faults, [...STATEMENT_FAULTS, ...NODE_FAULTS]),
  ].join("\n");
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
