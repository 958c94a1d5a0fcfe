import { median } from "./statistics.ts";

/** One thing that was measured, once per start. */
export interface Figure {
  scenario: string;
  /** A subject, or a situation that Bellhop was put in. */
  variant: string;
  measure: string;
  values: number[];
}

export interface Figures {
  record(scenario: string, variant: string, measure: string, value: number): void;
  /** In the order in which they were first recorded. */
  all(): readonly Figure[];
  values(scenario: string, variant: string, measure: string): readonly number[];
}

export function createFigures(): Figures {
  const figures = new Map<string, Figure>();
  return {
    record(scenario, variant, measure, value) {
      const key = JSON.stringify([scenario, variant, measure]);
      const figure = figures.get(key) ?? { scenario, variant, measure, values: [] };
      figure.values.push(value);
      figures.set(key, figure);
    },
    all: () => [...figures.values()],
    values: (scenario, variant, measure) =>
      figures.get(JSON.stringify([scenario, variant, measure]))?.values ?? [],
  };
}

/** How two variants compare: the ratio of every pair of neighbouring starts, so that a slow minute falls on both. */
export interface Ratio {
  median: number;
  min: number;
  max: number;
  pairs: number;
}

export function ratioOf(above: readonly number[], below: readonly number[]): Ratio | undefined {
  return comparePairs(above, below, (one, other) => one / other);
}

/** The same for what is too small a part of the whole for a ratio. */
export function differenceOf(above: readonly number[], below: readonly number[]): Ratio | undefined {
  return comparePairs(above, below, (one, other) => one - other);
}

function comparePairs(
  above: readonly number[],
  below: readonly number[],
  compare: (one: number, other: number) => number,
): Ratio | undefined {
  const pairs = above
    .slice(0, below.length)
    .map((value, index) => compare(value, below[index] ?? Number.NaN))
    .filter(Number.isFinite);
  if (pairs.length === 0) return undefined;
  return { median: median(pairs), min: Math.min(...pairs), max: Math.max(...pairs), pairs: pairs.length };
}
