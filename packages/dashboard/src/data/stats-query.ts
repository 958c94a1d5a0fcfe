import { bellhop } from "./client.ts";
import { useLiveQuery } from "./live.ts";
import type { Range } from "./ranges.ts";
import { useSandbox } from "./sandbox.ts";

/** Steps are minutes at least: looking more often shows nothing new but the depth of now. */
const EVERY_MS = 5_000;

export function useStats(range: Range) {
  const query = { range, ...useSandbox() };
  return useLiveQuery(["stats", query], ({ signal }) => bellhop.stats.queues(query, { signal }), {
    everyMs: EVERY_MS,
  });
}

export function useFailures(range: Range) {
  const query = { range, ...useSandbox() };
  return useLiveQuery(["failures", query], ({ signal }) => bellhop.stats.failures(query, { signal }), {
    everyMs: EVERY_MS,
  });
}
