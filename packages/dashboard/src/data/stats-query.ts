import { pageRequest } from "./client.ts";
import { useLiveQuery } from "./live.ts";
import type { Range } from "./ranges.ts";
import type { Stats } from "./stats.ts";

export interface FailureGroup {
  readonly queue: string;
  readonly host: string;
  readonly failureReason: string | null;
  readonly responseCode: number | string | null;
  readonly count: number;
  readonly countIsCapped: boolean;
  readonly firstSeen: string;
  readonly lastSeen: string;
  readonly sampleTask: string;
  readonly filter: Record<string, string>;
}

export function useStats(range: Range) {
  return useLiveQuery(
    ["stats", range],
    async () => (camel(await pageRequest(`/v1/stats/queues?range=${range}`)) as { stats: Stats }).stats,
    { everyMs: 5_000 },
  );
}

export function useFailures(range: Range) {
  return useLiveQuery(
    ["failures", range],
    async () =>
      (camel(await pageRequest(`/v1/stats/failures?range=${range}`)) as { failures: FailureGroup[] })
        .failures,
    { everyMs: 5_000 },
  );
}

function camel(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camel);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      name === "filter" ? inner : camel(inner),
    ]),
  );
}
