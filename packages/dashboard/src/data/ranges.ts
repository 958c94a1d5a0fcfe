import { useSearch } from "@tanstack/react-router";

export const RANGES = ["15m", "1h", "6h", "24h", "7d", "30d"] as const;
export type Range = (typeof RANGES)[number];

export const RANGE_NAMES: Record<Range, string> = {
  "15m": "15 min",
  "1h": "1 h",
  "6h": "6 h",
  "24h": "24 h",
  "7d": "7 days",
  "30d": "30 days",
};

export interface RangeSearch {
  readonly range?: Range | undefined;
}

export function readRange(search: Record<string, unknown>): RangeSearch {
  const range = RANGES.find((known) => known === search.range);
  return range === undefined ? {} : { range };
}

/** The range in the address; an hour where there is none. */
export function useRange(): Range {
  return useSearch({ strict: false }).range ?? "1h";
}
