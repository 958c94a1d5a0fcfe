import type { Time } from "../domain/time.ts";
import type { HeldClaim } from "../store/tasks/hints.ts";
import type { DatabaseClock } from "./database-clock.ts";
import type { Lease } from "./lease.ts";
import type { Log } from "./log.ts";
import { createTimetable } from "./timetable.ts";
import type { Unanswered } from "./unanswered.ts";
import { createVoidClaims } from "./void-claims.ts";

/** The net: another node may have left something due that it did not live to do. */
const POLL_MS = 5_000;
/** What is due within this time of each other shares a look. */
const SHORTEST_NAP_MS = 20;

export interface Deliveries {
  /** Starts what is due. Returns how long to nap until the next. */
  workOnce(): Promise<number>;
  /** True if the next look must come earlier than planned. */
  readonly isSooner: (at: Date) => boolean;
  /** Tears down what is done under this claim, and begins nothing, should the answer to the claim come later. */
  drop(claim: HeldClaim): void;
  /** Tears down what is under way; each is left to be taken up again. */
  abandon(): void;
  finished(): Promise<void>;
}

/** As much of a claim as tells it from every other. */
export interface HeldDelivery {
  readonly teamId: number;
  readonly id: string;
  readonly fence: number;
}

interface UnderWay {
  readonly fence: number;
  readonly running: Promise<void>;
  readonly tearDown: AbortController;
}

/**
 * Work that is found by its due time, claimed in batches under the lease and done side by side: polls and
 * notifications. Claims that the database says are ours and that are not under way here are let go every few seconds:
 * the answer to them was lost.
 */
export function createDeliveries<Claim extends HeldDelivery>(deps: {
  readonly name: string;
  readonly lease: Lease;
  readonly unanswered: Unanswered;
  readonly log: Log;
  readonly time: Time;
  readonly clock: DatabaseClock;
  readonly mostAtOnce: number;
  readonly batch: number;
  readonly claim: (limit: number) => Promise<Claim[]>;
  /** Resolves with the time until it is due again; null when it is done. */
  readonly work: (claim: Claim, signal: AbortSignal) => Promise<number | null>;
  /** The next look must come earlier than planned. */
  readonly wake: () => void;
  readonly untilNextMs: () => Promise<number | null>;
  /** What the database says is held by this worker. */
  readonly held: () => Promise<HeldDelivery[]>;
  readonly release: (stray: readonly HeldDelivery[]) => Promise<void>;
}): Deliveries {
  const { lease, log, time } = deps;
  const timetable = createTimetable({ ...deps, shortestMs: SHORTEST_NAP_MS, longestMs: POLL_MS });
  const underWay = new Map<string, UnderWay>();
  const voided = createVoidClaims(time);
  let strayLookAtMs = 0;

  function start(claim: Claim): void {
    const tearDown = new AbortController();
    if (voided.has(claim.id, claim.fence)) return;
    const running = deps
      .work(claim, tearDown.signal)
      .then((waitMs) => {
        if (waitMs !== null && timetable.isSoonerThan(waitMs)) deps.wake();
      })
      .catch((error) => log.error({ id: claim.id, err: error }, `${deps.name}.not_settled`))
      .finally(() => underWay.delete(claim.id));
    underWay.set(claim.id, { fence: claim.fence, running, tearDown });
  }

  async function claimDue(): Promise<number> {
    const room = Math.min(deps.mostAtOnce - underWay.size, deps.batch);
    if (room <= 0 || !lease.isHeld()) return 0;
    const { workerId } = lease;
    const question = deps.unanswered.ask();
    const claims = await deps.claim(room).finally(question.end);
    // Granted to a worker that this process no longer is, or too late: the next look for strays gives them back.
    if (question.isTooOld() || !lease.isHeld() || lease.workerId !== workerId) return 0;
    for (const claim of claims) start(claim);
    return claims.length;
  }

  /** Each by its fence: a release that the database carries out late must not touch what was claimed since. */
  async function releaseStray(): Promise<void> {
    const stray = (await deps.held()).filter(({ id }) => !underWay.has(id));
    if (stray.length > 0) await deps.release(stray);
  }

  return {
    async workOnce() {
      if (time.monotonicMs() >= strayLookAtMs) {
        await releaseStray();
        strayLookAtMs = time.monotonicMs() + POLL_MS;
      }
      const claimed = await claimDue();
      return timetable.nap(claimed === deps.batch ? 0 : await deps.untilNextMs());
    },
    isSooner: timetable.isSooner,
    drop(claim) {
      voided.add(claim);
      const dropped = underWay.get(claim.taskId);
      if (dropped?.fence === claim.fence) dropped.tearDown.abort();
    },
    abandon() {
      for (const { tearDown } of underWay.values()) tearDown.abort();
    },
    async finished() {
      while (underWay.size > 0) await Promise.all([...underWay.values()].map(({ running }) => running));
    },
  };
}
