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

/** The net: another node may have left something due that it did not live to do. */
const POLL_MS = 5_000;
/** What is due within this time of each other shares a look. */
const SHORTEST_NAP_MS = 20;
const MOST_REMEMBERED = 10_000;

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

interface Running {
  readonly fence: number;
  readonly running: Promise<void>;
  readonly tearDown: AbortController;
}

/** What every kind of delivery is given. */
export interface DeliveryTools {
  readonly lease: Lease;
  readonly unanswered: Unanswered;
  readonly log: Log;
  readonly time: Time;
  readonly clock: DatabaseClock;
  readonly pool: Pool;
  /** Asks what teams may have under way, if that is not known yet. */
  readonly learn: (teamIds: readonly number[]) => Promise<void> | null;
  /** The next look must come earlier than planned. */
  readonly wake: () => void;
}

/** What one kind of delivery is. */
interface Kind<Claim> {
  readonly name: string;
  readonly batch: number;
  readonly findDue: () => Promise<DueTeams>;
  readonly claim: (rooms: readonly TeamRoom[]) => Promise<Claim[]>;
  /** Resolves with the time until it is due again; null when it is done. */
  readonly work: (claim: Claim, signal: AbortSignal) => Promise<number | null>;
  /** What the database says is held by this worker. */
  readonly held: () => Promise<HeldDelivery[]>;
  readonly release: (stray: readonly HeldDelivery[]) => Promise<void>;
}

/**
 * Work that is found by its due time, claimed in batches under the lease and done side by side: polls and
 * notifications. Teams take turns, the least recently served first, and each has its budget: whatever hangs is its own.
 * Claims that the database says are ours and that are not under way here are let go every few seconds: the answer to
 * them was lost.
 */
export function createDeliveries<Claim extends HeldDelivery>(deps: DeliveryTools & Kind<Claim>): Deliveries {
  const { lease, log, time } = deps;
  const timetable = createTimetable({ ...deps, shortestMs: SHORTEST_NAP_MS, longestMs: POLL_MS });
  const underWay = createUnderWay<string, Running>();
  const voided = createVoidClaims(time);
  let strayLookAtMs = 0;
  /** When each team was last served, in turns. */
  const servedAt = new Map<number, number>();
  let turn = 0;
  /** Something is due that there is no room for. */
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
        underWay.delete(claim.id);
        deps.pool.giveBack(claim.teamId, 1);
        if (isCrowded) deps.wake();
      });
    underWay.set(claim.id, { fence: claim.fence, running, tearDown });
  }

  /** Sets room aside for each of these teams: an equal part of a batch, as far as its budget goes. */
  function takeRooms(teamIds: readonly number[]): TeamRoom[] {
    const inTurn = [...teamIds].sort((one, other) => (servedAt.get(one) ?? 0) - (servedAt.get(other) ?? 0));
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
    // Granted to a worker that this process no longer is, or too late: the next look for strays gives them back.
    return question.isTooOld() || !lease.isHeld() || lease.workerId !== workerId ? [] : claims;
  }

  /** Returns how many of these teams' deliveries were begun. */
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
      noteTurn(rooms);
      return claims.length;
    } finally {
      for (const [teamId, count] of unused) deps.pool.giveBack(teamId, count);
    }
  }

  function noteTurn(rooms: readonly TeamRoom[]): void {
    turn += 1;
    // Beyond the due teams of a look the order is of no use to anybody.
    if (servedAt.size > MOST_REMEMBERED) servedAt.clear();
    for (const { teamId } of rooms) servedAt.set(teamId, turn);
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
      const { teamIds, untilNextMs } = await deps.findDue();
      const begun = teamIds.length === 0 ? 0 : await serve(teamIds);
      // There may be more where these came from.
      return timetable.nap(begun > 0 ? 0 : untilNextMs);
    },
    isSooner: timetable.isSooner,
    drop(claim) {
      voided.add(claim);
      const dropped = underWay.get(claim.taskId);
      if (dropped?.fence === claim.fence) dropped.tearDown.abort();
    },
    abandon() {
      for (const { tearDown } of underWay.values) tearDown.abort();
    },
    async finished() {
      while (underWay.size > 0) await Promise.all([...underWay.values].map(({ running }) => running));
    },
  };
}
