import { sourceOf } from "../../domain/identity/source-address.ts";
import { rateLimited } from "../../domain/problem.ts";
import { wholeSeconds } from "../../domain/whole-seconds.ts";

/**
 * A sliding limit per source on this node only: it needs no database, so it can protect code that does. Exact if the
 * node has the port to itself; otherwise the counts of the other processes arrive a moment later.
 */
export interface SourceLimit {
  /** The number of requests left. */
  left(address: string): number;
  /** Throws `rate_limited` if none is left. */
  refuse(address: string): void;
  count(address: string): void;
}

/** For processes that share a port: a source must not have a limit per process. */
export interface SharedHits {
  tell(source: string): void;
  listen(hear: (source: string, hits: number) => void): void;
}

/** Without a credential: pages, the reference, the catalog. Enough for an office of readers, too few for a flood. */
export const VISITS = { most: 600, seconds: 60 };

/** Counting does not stop a flood from more sources than this; limits the memory. */
const MAX_SOURCES = 10_000;

/** The times of one source's hits, oldest first. Times before `first` are expired and removed now and then. */
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
    // Most recently counted last: the first entry is evicted.
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
