import type { Claim } from "../domain/claim.ts";
import type { Time } from "../domain/time.ts";
import type { Database } from "../store/sql.ts";
import type { Hint } from "../store/tasks/hints.ts";
import { acquireSlots } from "../store/tasks/queue-slots.ts";
import { claimDueTasks } from "../store/tasks/task-claims.ts";
import type { Reservation } from "../store/tasks/task-intake.ts";
import type { Lane, Lanes } from "./lanes.ts";
import type { Lease } from "./lease.ts";
import type { Log } from "./log.ts";

/** More in one claim adds latency for the first of them and gains nothing. */
const CLAIM_LIMIT = 200;
/** Claims under way at once: one waits for the disk while the other is planned. */
const CLAIMERS = 2;
const NAP_AFTER_ERROR_MS = 250;

/** A slot set aside, to be started or given back. */
export interface Seat {
  readonly lane: Lane;
  readonly reservation: Reservation;
}

export interface Dispatcher {
  /** Tasks came to wait in this queue: so many, or nobody has counted them. */
  notice(teamId: number, queue: string, count?: number): void;
  /** The queue's settings or the slots of others changed, if this worker has to do with it at all. */
  refresh(teamId: number, queue: string): void;
  /** There are due tasks in this queue, whatever this worker believes of it. */
  lookAgain(teamId: number, queue: string): void;
  /** Sets a slot aside for a task that is about to be inserted, if one is free and nothing else waits. */
  reserve(teamId: number, queue: string): Seat | null;
  /** The reservation did not hold: the queue has changed. */
  giveBack(seat: Seat): void;
  /** A call of this lane has ended. */
  finish(lane: Lane): void;
  /** Everything this worker held is lost: all slots must be asked for again. */
  forget(): void;
  /** Claims until nothing more can start. */
  dispatchOnce(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Decides what starts next. Lanes that have work and room wait in line; each turn takes one claim's worth and goes
 * to the end, so the least recently served queue is first.
 */
export function createDispatcher(deps: {
  readonly database: Database;
  readonly lanes: Lanes;
  readonly lease: Lease;
  readonly hint: (hint: Hint) => void;
  readonly log: Log;
  readonly time: Time;
  readonly start: (claim: Claim, lane: Lane) => void;
}): Dispatcher {
  const { database, lanes, lease, time, log } = deps;
  const ready = new Set<Lane>();
  /** Lanes with work and slots that the node or their team has no room for. */
  const crowded = new Set<Lane>();
  const claimers = new Set<Promise<void>>();
  let stopped = false;

  function lineUp(lane: Lane): void {
    if (stopped || lane.retired || lane.busy || !(lane.waiting > 0 || lane.stale)) return;
    ready.add(lane);
    startClaimer();
  }

  function startClaimer(): void {
    if (ready.size === 0 || claimers.size >= CLAIMERS || stopped || !lease.isHeld()) return;
    const claimer = drain().finally(() => {
      claimers.delete(claimer);
      // Who lined up after the last look into the line, but before we left, saw us still at work.
      startClaimer();
    });
    claimers.add(claimer);
  }

  async function drain(): Promise<void> {
    // Begin after the current turn, so that slots freed together are claimed for together.
    await new Promise<void>((resolve) => time.soon(resolve));
    for (let lane = next(); lane !== undefined && !stopped; lane = next()) {
      try {
        await serve(lane);
      } catch (error) {
        log.warn({ team: lane.teamId, queue: lane.queue, err: error }, "claim.failed");
        lane.waiting = Number.POSITIVE_INFINITY;
        await new Promise<void>((resolve) => time.setTimer(resolve, NAP_AFTER_ERROR_MS));
        ready.add(lane);
      }
    }
  }

  function next(): Lane | undefined {
    if (!lease.isHeld()) return undefined;
    for (const lane of ready) {
      ready.delete(lane);
      return lane;
    }
    return undefined;
  }

  async function serve(lane: Lane): Promise<void> {
    if (lane.busy || lane.retired) return;
    lane.busy = true;
    try {
      if (lane.stale) await acquire(lane);
      else if (lane.waiting > 0) await claim(lane);
    } finally {
      lane.busy = false;
    }
    const current = lanes.find(lane.teamId, lane.queue);
    if (current?.stale || (current !== undefined && current.waiting > 0 && lanes.free(current) > 0))
      lineUp(current);
    else if (current !== undefined && current.waiting > 0 && slotsLeft(current) > 0) crowded.add(current);
    wakeCrowded(current);
  }

  /** Room was given back. One lane that waits for it is enough: when it is served, it wakes the next. */
  function wakeCrowded(except?: Lane): void {
    for (const lane of crowded) {
      if (lane === except || (lanes.free(lane) <= 0 && !lane.retired)) continue;
      crowded.delete(lane);
      lineUp(lane);
      if (!lane.retired) return;
    }
  }

  async function acquire(lane: Lane): Promise<void> {
    lane.stale = false;
    const grant = await acquireSlots(database, {
      teamId: lane.teamId,
      queue: lane.queue,
      workerId: lease.workerId,
      using: lane.grant === null ? null : { queueId: lane.grant.queueId, inFlight: lane.inFlight },
    }).catch((error) => {
      lane.stale = true;
      throw error;
    });
    if (grant === null) return lanes.drop(lane);
    // A queue deleted and made again under the same name: calls of the old one must not fill the new one's slots.
    const replaced = lane.grant !== null && lane.grant.queueId !== grant.queueId;
    if (replaced) lanes.drop(lane);
    const current = replaced ? lanes.open(lane.teamId, lane.queue) : lane;
    const before = lane.grant;
    current.grant = grant;
    // What was said of the queue while we asked may be news: the lane then stays stale.
    current.stale = lane.stale;
    current.waiting = lane.waiting;
    current.usedAtMs = time.monotonicMs();
    // Said once, when it becomes true: two that are starved would answer each other for ever.
    const isNews = (grant.starved && !before?.starved) || grant.slots < (before?.slots ?? 0);
    if (isNews) deps.hint({ kind: "slots", teamId: lane.teamId, queue: lane.queue });
  }

  async function claim(lane: Lane): Promise<void> {
    const { grant, waiting } = lane;
    const limit = Math.min(lanes.free(lane), waiting, CLAIM_LIMIT);
    if (grant === null || limit <= 0) return;
    // What arrives during the claim may be missed by it, and counts itself again.
    lane.waiting = waiting === Number.POSITIVE_INFINITY ? 0 : waiting - limit;
    lane.covering = limit === waiting;
    lane.usedAtMs = time.monotonicMs();
    lanes.take(lane, limit);
    let started = 0;
    try {
      const { standing, claims } = await claimDueTasks(database, {
        teamId: lane.teamId,
        queueId: grant.queueId,
        queue: lane.queue,
        epoch: grant.epoch,
        workerId: lease.workerId,
        limit,
      });
      started = claims.length;
      if (!standing) lane.stale = true;
      // Where the number was unknown there is more until a claim comes back with less than it asked for.
      const more = waiting === Number.POSITIVE_INFINITY && claims.length === limit;
      if (!standing || more) lane.waiting = Number.POSITIVE_INFINITY;
      for (const one of claims) deps.start(one, lane);
    } finally {
      lane.covering = false;
      lanes.giveBack(lane, limit - started);
    }
  }

  function lookAgain(teamId: number, queue: string): void {
    const lane = lanes.open(teamId, queue);
    lane.stale = true;
    lane.waiting = Number.POSITIVE_INFINITY;
    lineUp(lane);
  }

  function slotsLeft(lane: Lane): number {
    return lane.grant === null || lane.grant.paused ? 0 : lane.grant.slots - lane.inFlight;
  }

  function finish(lane: Lane): void {
    lanes.giveBack(lane, 1);
    if (lane.grant?.overdrawn) lane.stale = true;
    lineUp(lane);
    wakeCrowded();
  }

  return {
    notice(teamId, queue, count = Number.POSITIVE_INFINITY) {
      const lane = lanes.open(teamId, queue);
      lane.waiting += count;
      lineUp(lane);
    },
    refresh(teamId, queue) {
      if (lanes.find(teamId, queue) !== undefined) lookAgain(teamId, queue);
    },
    lookAgain,
    reserve(teamId, queue) {
      const lane = lanes.find(teamId, queue);
      if (lane === undefined || lane.grant === null || lane.stale || lane.waiting > 0) return null;
      if (lane.busy && !lane.covering) return null;
      if (stopped || lanes.free(lane) <= 0 || !lease.isHeld()) return null;
      lanes.take(lane, 1);
      lane.usedAtMs = time.monotonicMs();
      return { lane, reservation: { queueId: lane.grant.queueId, epoch: lane.grant.epoch } };
    },
    giveBack(seat) {
      seat.lane.stale = true;
      finish(seat.lane);
    },
    finish,
    forget() {
      for (const lane of lanes.all) lookAgain(lane.teamId, lane.queue);
    },
    async dispatchOnce() {
      for (const lane of lanes.all) lineUp(lane);
      while (claimers.size > 0) await Promise.all(claimers);
    },
    async stop() {
      stopped = true;
      ready.clear();
      await Promise.all(claimers);
    },
  };
}
