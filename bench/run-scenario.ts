import type { Figures } from "./figures.ts";
import type { LoadResult } from "./load/load-job.ts";
import { usualStarts } from "./options.ts";
import { formatNumber } from "./report.ts";
import type { Options } from "./run-options.ts";
import type { Bench, Scenario } from "./scenarios/scenario.ts";

/** Variants take turns, so that a slow minute of a shared machine falls on all of them. Returns the problems. */
export async function runScenario(scenario: Scenario, options: Options, figures: Figures): Promise<string[]> {
  const problems: string[] = [];
  const starts = options.starts || (scenario.starts ?? usualStarts);
  const broken = new Set<string>();
  for (let start = 1; start <= starts; start++) {
    for (const { name, measure } of scenario.variants) {
      if (broken.has(name)) continue;
      const what = `${scenario.name}, ${name}, start ${start}`;
      const recorded: string[] = [];
      try {
        const benchOf = (variant: string): Bench => ({
          options,
          record(measured, value) {
            figures.record(scenario.name, variant, measured, value);
            recorded.push(`${variant === name ? "" : `${variant} `}${measured} ${formatNumber(value)}`);
          },
          of: benchOf,
          check: (step, result) => problems.push(...findProblems(`${what}, ${step}`, result)),
        });
        await measure(benchOf(name));
      } catch (error) {
        // Minutes of measurements are worth showing even if this variant failed; the exit code tells.
        problems.push(`${what}: ${error instanceof Error ? error.message : error}`);
        broken.add(name);
        recorded.push("FAILED");
      }
      // A median hides what one start does differently; beyond so many, the table has them.
      console.log(`${scenario.name} ${start}/${starts} ${name}: ${recorded.slice(0, 12).join(" · ")}`);
    }
  }
  return problems;
}

/** What makes a measurement invalid, in words; empty if nothing does. */
function findProblems(what: string, result: LoadResult): string[] {
  const problems: string[] = [];
  if (result.lost > 0) problems.push(`${what}: lost ${result.lost} of ${result.accepted} accepted tasks`);
  for (const [status, count] of Object.entries(result.failures)) {
    problems.push(`${what}: ${count} submissions got ${status === "0" ? "no answer" : `status ${status}`}`);
  }
  return problems;
}
