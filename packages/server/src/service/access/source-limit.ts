import { sourceOf } from "../../domain/identity/source-address.ts";
import { rateLimited } from "../../domain/problem.ts";
import { wholeSeconds } from "../../domain/whole-seconds.ts";

/**
 * At most so many in so many seconds from one source, sliding, on this node alone: it asks no database, so it can stand in front
 * of what does. Exact where the node has the port to itself; otherwise what the others count is heard a moment later.
 */
export interface SourceLimit {
  /** How many more fit at the moment. */
  left(address: string): number;
  /** Throws `rate_limited` while none does. */
  refuse(address: string): void;
  count(address: string): void;
}

/** Of the processes that share a port: a source must not have as many limits as there are processes. */
export interface SharedHits {
  tell(source: string): void;
  listen(hear: (source: string, hits: number) => void): void;
}

/** Without a credential: pages, the reference, the catalog. Enough for a whole office of readers, too few for a flood. */
export const VISITS = { most: 600, seconds: 60 };

/** A flood from more sources than this is not stopped by counting them; the memory must have an end. */
const MAX_SOURCES = 10_000;

/** When one source was counted, oldest first. Times before `first` are too old, and is cut off now and then. */
interface Hits {
  readonly timesMs: number[];
  first: number;
}

export function createSourceLimit(options: {
  readonly most: number;
  readonly seconds: number;
  readonly monotonicMs: () => number;
  readonly maxSources?: number;
  readonly shared?: SharedHits | undefined;
}): SourceLimit {
  const { most, monotonicMs, maxSources = MAX_SOURCES } = options;
  const windowMs = options.seconds * 1000;
  const sources = new Map<string, Hits>();

  function countOf(hits: Hits | undefined, nowMs: number): number {
    if (hits === undefined) return 0;
    while ((hits.timesMs[hits.first] ?? Number.POSITIVE_INFINITY) <= nowMs - windowMs) hits.first += 1;
    return hits.timesMs.length - hits.first;
  }

  function add(source: string): void {
    const hits = sources.get(source) ?? { timesMs: [], first: 0 };
    const nowMs = monotonicMs();
    if (countOf(hits, nowMs) >= most) hits.first += 1;
    if (hits.first > most) {
      hits.timesMs.splice(0, hits.first);
      hits.first = 0;
    }
    hits.timesMs.push(nowMs);
    // The source that was counted last stands last, so that the first is the one to forget.
    sources.delete(source);
    sources.set(source, hits);
    if (sources.size > maxSources) sources.delete(sources.keys().next().value ?? "");
  }

  options.shared?.listen((source, hits) => {
    for (let heard = 0; heard < hits; heard += 1) add(source);
  });

  return {
    left: (address) => most - countOf(sources.get(sourceOf(address)), monotonicMs()),
    refuse(address) {
      const hits = sources.get(sourceOf(address));
      const nowMs = monotonicMs();
      if (hits === undefined || countOf(hits, nowMs) < most) return;
      const waitMs = (hits.timesMs[hits.first] ?? nowMs) + windowMs - nowMs;
      throw rateLimited(wholeSeconds(waitMs));
    },
    count(address) {
      const source = sourceOf(address);
      add(source);
      options.shared?.tell(source);
    },
  };
}
