import { readFileSync, writeFileSync } from "node:fs";
import { createFigures, type Figure } from "./figures.ts";
import { judge } from "./goals.ts";
import type { Machine } from "./machine.ts";
import { formatMachine, formatOptions, formatVerdicts } from "./report.ts";
import type { Options } from "./run-options.ts";

interface Results {
  machine: Machine;
  options: Options;
  figures: Figure[];
}

const BEGIN = "<!-- The table below is written by: npm run bench -- --docs <results> -->";
const END = "<!-- End of the table -->";

/** Writes the verdicts of earlier runs into the page between its two marks. Several runs may have a part of the scenarios each. */
export function writeDocs(page: string, files: readonly string[]): void {
  const text = readFileSync(page, "utf8");
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin === -1 || end < begin) throw new Error(`${page} does not have the marks of the table`);
  const table = describeRuns(files.map((file) => JSON.parse(readFileSync(file, "utf8")) as Results));
  writeFileSync(page, `${text.slice(0, begin)}${BEGIN}\n\n${table}\n\n${text.slice(end)}`);
}

function describeRuns(runs: readonly Results[]): string {
  const figures = createFigures();
  for (const { scenario, variant, measure, values } of runs.flatMap((run) => run.figures))
    for (const value of values) figures.record(scenario, variant, measure, value);
  const measured = judge(figures).filter(({ isMet }) => isMet !== undefined);
  const conditions = runs.map(({ machine, options }) => {
    const scenarios = options.scenarios.length === 0 ? "all scenarios" : options.scenarios.join(", ");
    return `- ${scenarios}: ${formatMachine(machine)}; ${formatOptions(options)}`;
  });
  return `${conditions.join("\n")}\n\n${formatVerdicts(measured)}`;
}
