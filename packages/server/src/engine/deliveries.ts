import { createTeamOrder } from "../domain/team-order.ts";
import type { Time } from "../domain/time.ts";
import { createUnderWay } from "../domain/under-way.ts";
import type { DueTeams, TeamRoom } from "../store/tasks/due-teams.ts";
import type { HeldClaim } from "../store/tasks/hints.ts";
import type { Pool } from "./budget.ts";
import type { DatabaseClock } from "./database-clock.ts";
import type { Lease } from "./lease.ts";
import type { Log } from "./log.ts";
import { createTimetable } from "./timetable.ts";
import type { Unanswered } from "./unanswered.ts";
import { createVoidClaims } from "./void-claims.ts";

/** Polling interval, for due items that a crashed node left behind. */
const POLL_MS = 5_000;
/** Items due within this time of each other share one check. */
const SHORTEST_NAP_MS = 20;

export interface Deliveries {
  /** Starts due items. Returns the milliseconds until the next check. */
  workOnce(): Promise<number>;
  /** True if the next check must run earlier than planned. */
  readonly isSooner: (at: Date) => boolean;
  /** Aborts the request of this claim. If the answer to the claim arrives later, no request starts. */
  drop(claim: HeldClaim): void;
  /** Aborts all requests in flight; each item becomes due again. */
  abandon(): void;
  finished(): Promise<void>;
}

/** The fields that identify a claim. */
export interface HeldDelivery {
  readonly teamId: number;
  readonly id: string;
  readonly fence: number;
}

interface Running {
  readonly id: string;
  readonly fence: number;
  readonly running: Promise<void>;
  readonly tearDown: AbortController;
}

/** Dependencies of every kind of outgoing request. */
export interface DeliveryTools {
  readonly lease: Lease;
  readonly unanswered: Unanswered;
  readonly log: Log;
  readonly time: Time;
  readonly clock: DatabaseClock;
  readonly pool: Pool;
  /** Reads the budgets of these teams, if they are not known yet. */
  readonly learn: (teamIds: readonly number[]) => Promise<void> | null;
  /** Runs the next check earlier than planned. */
  readonly wake: () => void;
}

/** One kind of outgoing request. */
interface Kind<Claim> {
  readonly name: string;
  readonly batch: number;
  readonly findDue: () => Promise<DueTeams>;
  readonly claim: (rooms: readonly TeamRoom[]) => Promise<Claim[]>;
  /** Resolves with the milliseconds until the item is due again, or null when it is done. */
  readonly work: (claim: Claim, signal: AbortSignal) => Promise<number | null>;
  /** The items that the database assigns to this worker. */
  readonly held: () => Promise<HeldDelivery[]>;
  readonly release: (stray: readonly HeldDelivery[]) => Promise<void>;
}

/**
 * Outgoing requests that are found by their due time, claimed in batches under the lease and made concurrently: polls,
 * notifications and webhook deliveries. Teams take turns, the least recently served first, and each has its budget, so
 * a slow receiver only delays its own team. Claims that the database assigns to this worker but that are not in flight
 * here are released every few seconds: the answer to them was lost.
 */
export function createDeliveries<Claim extends HeldDelivery>(deps: DeliveryTools & Kind<Claim>): Deliveries {
  const { lease, log, time } = deps;
  const timetable = createTimetable({ ...deps, shortestMs: SHORTEST_NAP_MS, longestMs: POLL_MS });
  const underWay = createUnderWay<Running>();
  const voided = createVoidClaims(time);
  let strayLookAtMs = 0;
  const order = createTeamOrder();
  /** An item is due, but there is no capacity for it. */
  let isCrowded = false;

  function start(claim: Claim): void {
    if (voided.has(claim.id, claim.fence)) {
      deps.pool.giveBack(claim.teamId, 1);
      return;
    }
    const tearDown = new AbortController();
    const running = deps
      .work(claim, tearDown.signal)
      .then((waitMs) => {
        if (waitMs !== null && timetable.isSoonerThan(waitMs)) deps.wake();
      })
      .catch((error) => log.error({ id: claim.id, err: error }, `${deps.name}.not_settled`))
      .finally(() => {
        underWay.remove(place);
        deps.pool.giveBack(claim.teamId, 1);
        if (isCrowded) deps.wake();
      });
    const place = underWay.add({ id: claim.id, fence: claim.fence, running, tearDown });
  }

  /** Reserves capacity for each of these teams: an equal share of a batch, within its budget. */
  function takeRooms(teamIds: readonly number[]): TeamRoom[] {
    const inTurn = order.inTurn(teamIds);
    const part = Math.max(1, Math.floor(deps.batch / Math.max(1, inTurn.length)));
    let left = deps.batch;
    const rooms: TeamRoom[] = [];
    for (const teamId of inTurn) {
      const most = Math.min(part, left, deps.pool.room(teamId));
      if (most <= 0) continue;
      deps.pool.take(teamId, most);
      left -= most;
      rooms.push({ teamId, most });
    }
    return rooms;
  }

  async function claimInto(rooms: readonly TeamRoom[]): Promise<Claim[]> {
    const { workerId } = lease;
    const question = deps.unanswered.ask();
    const claims = await deps.claim(rooms).finally(question.end);
    // The claims were granted to an earlier id of this worker, or too late: the next check for strays releases them.
    return question.isTooOld() || !lease.isHeld() || lease.workerId !== workerId ? [] : claims;
  }

  /** Returns the number of items started. */
  async function serve(teamIds: readonly number[]): Promise<number> {
    await deps.learn(teamIds);
    if (!lease.isHeld()) return 0;
    const rooms = takeRooms(teamIds);
    isCrowded = rooms.length < teamIds.length;
    if (rooms.length === 0) return 0;
    const unused = new Map(rooms.map(({ teamId, most }) => [teamId, most]));
    try {
      const claims = await claimInto(rooms);
      for (const claim of claims) {
        unused.set(claim.teamId, (unused.get(claim.teamId) ?? 0) - 1);
        start(claim);
      }
      order.served(rooms.map(({ teamId }) => teamId));
      return claims.length;
    } finally {
      for (const [teamId, count] of unused) deps.pool.giveBack(teamId, count);
    }
  }

  /** Releases by fence: a late release must not touch an item that was claimed again since. */
  async function releaseStray(): Promise<void> {
    const held = await deps.held();
    const ids = new Set(underWay.all().map(({ id }) => id));
    const stray = held.filter(({ id }) => !ids.has(id));
    if (stray.length > 0) await deps.release(stray);
  }

  return {
    async workOnce() {
      if (time.monotonicMs() >= strayLookAtMs) {
        await releaseStray();
        strayLookAtMs = time.monotonicMs() + POLL_MS;
      }
      const { teamIds, untilNextMs } = await deps.findDue();
      const begun = teamIds.length === 0 ? 0 : await serve(teamIds);
      // More items may be due.
      return timetable.nap(begun > 0 ? 0 : untilNextMs);
    },
    isSooner: timetable.isSooner,
    drop(claim) {
      voided.add(claim);
      for (const { id, fence, tearDown } of underWay.all())
        if (id === claim.taskId && fence === claim.fence) tearDown.abort();
    },
    abandon() {
      for (const { tearDown } of underWay.all()) tearDown.abort();
    },
    async finished() {
      while (underWay.size > 0) await Promise.all(underWay.all().map(({ running }) => running));
    },
  };
}
