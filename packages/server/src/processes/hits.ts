import type { SharedHits } from "../service/access/source-limit.ts";

/** The number of hits, by limit and source. */
export type Hits = readonly (readonly [limit: string, source: string, hits: number])[];

export type HitLines = Readonly<Record<"failures" | "visits", SharedHits>>;

/** A source is counted by one process alone for this long: a message per hit would cost more than it saves. */
const TELL_MS = 100;

/** Sends this process's counts to the others in batches, and applies theirs. */
export function createHitExchange(send: (hits: Hits) => void) {
  const unsaid = new Map<string, [limit: string, source: string, hits: number]>();
  const listeners = new Map<string, (source: string, hits: number) => void>();

  function say(): void {
    const hits = [...unsaid.values()];
    unsaid.clear();
    send(hits);
  }

  const line = (limit: string): SharedHits => ({
    tell(source) {
      if (unsaid.size === 0) setTimeout(say, TELL_MS).unref();
      const key = `${limit} ${source}`;
      const known = unsaid.get(key);
      if (known === undefined) unsaid.set(key, [limit, source, 1]);
      else known[2] += 1;
    },
    listen(hear) {
      listeners.set(limit, hear);
    },
  });

  return {
    lines: { failures: line("failures"), visits: line("visits") } satisfies HitLines,
    hear(hits: Hits): void {
      for (const [limit, source, count] of hits) listeners.get(limit)?.(source, count);
    },
  };
}
