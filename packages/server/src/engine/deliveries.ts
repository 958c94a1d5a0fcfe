import type { Time } from "../domain/time.ts";
import type { Lease } from "./lease.ts";
import type { Log } from "./log.ts";
import { createTimetable } from "./timetable.ts";

/** The net: another node may have left something due that it did not live to do. */
const POLL_MS = 5_000;
/** What is due within this time of each other shares a look. */
const SHORTEST_NAP_MS = 20;

export interface Deliveries {
  /** Starts what is due. Returns how long to nap until the next. */
  workOnce(): Promise<number>;
  /** True if the next look must come earlier than planned. */
  readonly isSooner: (at: Date) => boolean;
  /** Tears down what is under way; each is left to be taken up again. */
  abandon(): void;
  finished(): Promise<void>;
}

/**
 * Work that is found by its due time, claimed in batches under the lease and done side by side: polls and
 * notifications. Claims that the database says are ours and that are not under way here are let go every few seconds:
 * the answer to them was lost.
 */
export function createDeliveries<Claim extends { readonly id: string }>(deps: {
  readonly name: string;
  readonly lease: Lease;
  readonly log: Log;
  readonly time: Time;
  readonly mostAtOnce: number;
  readonly batch: number;
  readonly claim: (limit: number) => Promise<Claim[]>;
  /** Resolves with the time until it is due again; null when it is done. */
  readonly work: (claim: Claim, signal: AbortSignal) => Promise<number | null>;
  /** The next look must come earlier than planned. */
  readonly wake: () => void;
  readonly untilNextMs: () => Promise<number | null>;
  readonly releaseStray: (underWay: readonly string[]) => Promise<void>;
}): Deliveries {
  const { lease, log, time } = deps;
  const timetable = createTimetable({ time, shortestMs: SHORTEST_NAP_MS, longestMs: POLL_MS });
  const underWay = new Map<string, Promise<void>>();
  let tearDown = new AbortController();
  let strayLookAtMs = 0;

  function start(claim: Claim): void {
    const running = deps
      .work(claim, tearDown.signal)
      .then((waitMs) => {
        if (waitMs !== null && timetable.isSoonerThan(waitMs)) deps.wake();
      })
      .catch((error) => log.error({ id: claim.id, err: error }, `${deps.name}.not_settled`))
      .finally(() => underWay.delete(claim.id));
    underWay.set(claim.id, running);
  }

  async function claimDue(): Promise<number> {
    const room = Math.min(deps.mostAtOnce - underWay.size, deps.batch);
    if (room <= 0 || !lease.isHeld()) return 0;
    const claims = await deps.claim(room);
    for (const claim of claims) start(claim);
    return claims.length;
  }

  return {
    async workOnce() {
      if (time.monotonicMs() >= strayLookAtMs) {
        await deps.releaseStray([...underWay.keys()]);
        strayLookAtMs = time.monotonicMs() + POLL_MS;
      }
      const claimed = await claimDue();
      return timetable.nap(claimed === deps.batch ? 0 : await deps.untilNextMs());
    },
    isSooner: timetable.isSooner,
    abandon() {
      tearDown.abort();
      tearDown = new AbortController();
    },
    async finished() {
      while (underWay.size > 0) await Promise.all(underWay.values());
    },
  };
}
