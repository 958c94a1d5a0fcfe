import type { Figure } from "./figures.ts";
import type { Verdict } from "./goals.ts";
import type { Machine } from "./machine.ts";
import type { Options } from "./run-options.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import { median } from "./statistics.ts";

/** As Markdown, so that a run can be put into docs/performance.md as it is. */
function table([head = [], ...rows]: string[][]): string {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

export function formatNumber(value: number): string {
  return value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
}

export function formatMachine(machine: Machine): string {
  const { cores, cpu, arch, memoryGb, os, node, postgres, redis, loadAverage } = machine;
  return [
    `${cores} cores (${cpu}, ${arch}), ${memoryGb} GB, ${os}`,
    `Node ${node}, PostgreSQL ${postgres}, Redis ${redis}`,
    `load before the run ${loadAverage.toFixed(2)}`,
  ].join("; ");
}

export function formatOptions({
  starts,
  count,
  warmUp,
  warmUpRuns,
  seconds,
  grouped,
  scale,
}: Options): string {
  return [
    starts === 0 ? "usual starts" : `${starts} starts each`,
    `${count} tasks after ${warmUp} to warm up in ${warmUpRuns} ${warmUpRuns === 1 ? "run" : "runs"}`,
    `latency over ${seconds} s`,
    ...(grouped ? ["peers with the group commit of the skeleton"] : []),
    ...(scale === 1
      ? []
      : [`large numbers of rows scaled by ${scale}: their names are not what was measured`]),
  ].join(", ");
}

/** Median and spread of every measure, a column for each variant. */
export function formatScenario({ name, about }: Scenario, figures: readonly Figure[]): string {
  const own = figures.filter(({ scenario }) => scenario === name);
  const variants = [...new Set(own.map(({ variant }) => variant))];
  const measures = [...new Set(own.map(({ measure }) => measure))];
  const cell = (measure: string, variant: string) => {
    const values = own.find((figure) => figure.measure === measure && figure.variant === variant)?.values;
    return values === undefined ? "" : formatSpread(values);
  };
  const rows = measures.map((measure) => [measure, ...variants.map((variant) => cell(measure, variant))]);
  return `**${name}**: ${about}\n\n${table([["", ...variants], ...rows])}`;
}

function formatSpread(values: number[]): string {
  const middle = formatNumber(median(values));
  if (values.length === 1) return middle;
  return `${middle} (${formatNumber(Math.min(...values))}–${formatNumber(Math.max(...values))})`;
}

export function formatVerdicts(verdicts: Verdict[]): string {
  return table([
    ["goal", "target", "measured", "verdict"],
    ...verdicts.map(({ goal, target, measured, isMet }) => [
      goal,
      target,
      measured === undefined
        ? "–"
        : `${formatNumber(measured.median)}${measured.pairs > 1 ? ` (${formatNumber(measured.min)}–${formatNumber(measured.max)}, ${measured.pairs} values)` : ""}`,
      isMet === undefined ? "not measured" : isMet ? "met" : "MISSED",
    ]),
  ]);
}
