import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Figure } from "./figures.ts";
import { formatNumber } from "./report.ts";
import { median } from "./statistics.ts";

/** What docs/performance.md shows. Several measures are stacked. */
const PLOTS: readonly {
  readonly file: string;
  readonly title: string;
  readonly scenario: string;
  readonly measures: readonly string[];
}[] = [
  {
    file: "bench-throughput.svg",
    title: "Tasks a second, 64 connections; the line is the spread of the starts",
    scenario: "hand-off",
    measures: ["tasks/s, 64 connections"],
  },
  {
    file: "bench-cpu.svg",
    title: "µs of CPU a task: main thread, helper threads, database",
    scenario: "hand-off",
    measures: ["CPU µs/task, main thread", "helper threads", "database"],
  },
  {
    file: "bench-slots.svg",
    title: "Tasks a second when all slots are taken; the line is the spread of the starts",
    scenario: "slots",
    measures: ["tasks/s"],
  },
  {
    file: "bench-latency.svg",
    title: "ms from submission to 201 at 1,000 tasks a second, p50",
    scenario: "latency",
    measures: ["1000/s: accept p50"],
  },
];

/** Draws what was measured. Returns the files. */
export function writePlots(figures: readonly Figure[], directory: string): string[] {
  mkdirSync(directory, { recursive: true });
  return PLOTS.flatMap(({ file, title, scenario, measures }) => {
    const own = figures.filter((figure) => figure.scenario === scenario && measures.includes(figure.measure));
    if (own.length === 0) return [];
    const bars = [...new Set(own.map(({ variant }) => variant))].map((name) => ({
      name,
      parts: measures.map(
        (measure) =>
          own.find((figure) => figure.variant === name && figure.measure === measure)?.values ?? [],
      ),
    }));
    writeFileSync(join(directory, file), drawBars(title, bars));
    return [join(directory, file)];
  });
}

interface Bar {
  readonly name: string;
  /** What each start measured, of each part. */
  readonly parts: readonly (readonly number[])[];
}

const [WIDTH, ROW, LEFT, RIGHT, TOP] = [720, 28, 130, 90, 40];
/** Readable on a light page and on a dark one. */
const STYLE = `text { font: 13px system-ui, sans-serif; fill: #1f2937 } .spread { stroke: #1f2937 }
  .p0 { fill: #3b82f6 } .p1 { fill: #93c5fd } .p2 { fill: #94a3b8 } .own { font-weight: 600 }
  @media (prefers-color-scheme: dark) { text { fill: #e5e7eb } .spread { stroke: #e5e7eb } }`;

function drawBars(title: string, bars: readonly Bar[]): string {
  const sums = bars.map(({ parts }) => parts.reduce((sum, values) => sum + median([...values]), 0));
  const largest = Math.max(
    ...bars.flatMap(({ parts }) => (parts.length === 1 ? (parts[0] ?? []) : [])),
    ...sums,
  );
  const scale = (WIDTH - LEFT - RIGHT) / largest;
  const rows = bars.map(({ name, parts }, row) => {
    const y = TOP + row * ROW;
    let x = LEFT;
    const rects = parts.map((values, part) => {
      const width = median([...values]) * scale;
      const rect = `<rect class="p${part}" x="${fixed(x)}" y="${y}" width="${fixed(width)}" height="${ROW - 8}"/>`;
      x += width;
      return rect;
    });
    const [only = []] = parts;
    const [low, high] = [Math.min(...only), Math.max(...only)].map((value) => LEFT + value * scale);
    const middle = y + ROW / 2 - 4;
    const spread =
      parts.length > 1 || only.length < 2
        ? ""
        : `<line class="spread" x1="${fixed(low)}" x2="${fixed(high)}" y1="${middle}" y2="${middle}"/>`;
    const end = Math.max(x, spread === "" ? 0 : (high ?? 0)) + 8;
    return `<text${name === "bellhop" ? ' class="own"' : ""} x="${LEFT - 10}" y="${middle + 4}" text-anchor="end">${name}</text>
  ${rects.join("")}${spread}<text x="${fixed(end)}" y="${middle + 4}">${formatNumber(sums[row] ?? 0)}</text>`;
  });
  const height = TOP + bars.length * ROW + 8;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}">
  <style>${STYLE}</style>
  <text x="0" y="18">${title}</text>
  ${rows.join("\n  ")}
</svg>
`;
}

function fixed(value = 0): string {
  return value.toFixed(1);
}
