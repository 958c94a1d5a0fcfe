import { bellhop } from "./client.ts";
import { useLiveQuery } from "./live.ts";
import type { Range } from "./ranges.ts";

/** Steps are minutes at least: looking more often shows nothing new but the depth of now. */
const EVERY_MS = 5_000;

export function useStats(range: Range) {
  return useLiveQuery(["stats", range], ({ signal }) => bellhop.stats.queues({ range }, { signal }), {
    everyMs: EVERY_MS,
  });
}

export function useFailures(range: Range) {
  return useLiveQuery(["failures", range], ({ signal }) => bellhop.stats.failures({ range }, { signal }), {
    everyMs: EVERY_MS,
  });
}
