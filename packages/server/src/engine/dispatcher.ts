import type { Claim } from "../domain/claim.ts";
import type { Time } from "../domain/time.ts";
import type { Database } from "../store/sql.ts";
import { createSubscriberMemory } from "../store/tasks/event-writes.ts";
import type { Hint } from "../store/tasks/hints.ts";
import { acquireSlots, type SlotGrant } from "../store/tasks/queue-slots.ts";
import type { Flows } from "./flows.ts";
import type { Lease } from "./lease.ts";
import {
  hasWork,
  type LocalQueue,
  type LocalQueues,
  mayHandOff,
  openWindow,
  slotsLeft,
  takeTurnOfFlows,
} from "./local-queues.ts";
import type { Log } from "./log.ts";
import { type EngineMeter, NO_METER } from "./meter.ts";
import type { QueueClaims } from "./queue-claims.ts";
import type { Unanswered } from "./unanswered.ts";

/** A larger claim delays its first task without a gain. */
const CLAIM_LIMIT = 200;
/** Concurrent claims: one waits for the disk while the other is planned. */
const CLAIMERS = 2;
const NAP_AFTER_ERROR_MS = 250;

/** A slot reserved for a task that is about to be inserted. It is valid until its queue changes. */
export interface Reservation {
  readonly local: LocalQueue;
  readonly queueId: number;
  readonly epoch: number;
}

export interface Dispatcher {
  /** Reports new due tasks in this queue: a number, or an unknown number. */
  notice(teamId: number, queue: string, count?: number): void;
  /** The queue's settings or other workers' slots changed. False if this worker does not know the queue. */
  refresh(teamId: number, queue: string): boolean;
  /** There are due tasks in this queue, even if this worker knows of none. */
  lookAgain(teamId: number, queue: string): void;
  /** Serves the queue, if it has work: a flow waits for its slots. */
  lineUp(local: LocalQueue): void;
  /** Reserves a slot for a task that is about to be inserted, if one is free and no task waits. */
  reserve(teamId: number, queue: string, hasFlow?: boolean): Reservation | null;
  /** Returns a reservation that became invalid because the queue changed. */
  giveBack(reservation: Reservation): void;
  /** A call of this queue has ended. */
  finish(local: LocalQueue): void;
  /** This worker has slots of the queue but no capacity for another call, in total or in the team's share. */
  isCrowded(teamId: number, queue: string): boolean;
  /** A team with an exhausted budget may start more. */
  wake(): void;
  /** The worker lost its lease: all slots must be requested again. */
  forget(): void;
  /** Claims until no further call can start. */
  dispatchOnce(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Decides which call starts next. Queues with work and capacity wait in line. Each turn makes one claim and moves the
 * queue to the end, so the least recently served queue is first.
 */
export function createDispatcher(deps: {
  readonly database: Database;
  /** Reads the team's budget, if it is not known yet. */
  readonly learn: (teamIds: readonly number[]) => Promise<void> | null;
  readonly localQueues: LocalQueues;
  readonly lease: Lease;
  readonly hint: (hint: Hint) => void;
  readonly log: Log;
  readonly time: Time;
  readonly meter?: EngineMeter;
  readonly unanswered: Unanswered;
  readonly start: (claim: Claim, local: LocalQueue) => void;
  /** A claim found fewer tasks than requested. */
  readonly onShort: (local: LocalQueue) => void;
  /** Releases claims that were granted too late to start. */
  readonly release: (claims: readonly Claim[]) => Promise<void>;
  /** Takes the tasks that a circuit breaker of the queue holds back out of its line. */
  readonly holdBack?: (teamId: number, grant: SlotGrant) => Promise<void>;
  readonly claim: QueueClaims["claim"];
  /** Claims tasks of flows with slots of this queue. */
  readonly claimFlows?: (local: LocalQueue) => Promise<void>;
  /** For the lines of ordered queues, whose tasks may have flows. */
  readonly lines?: Pick<Flows, "joinLine" | "notices" | "headFound">;
}): Dispatcher {
  const { database, localQueues, lease, time, log, meter = NO_METER } = deps;
  const subscribers = createSubscriberMemory();
  const ready = new Set<LocalQueue>();
  /** Queues with work and slots but without capacity on the node or in their team's budget. */
  const crowded = new Set<LocalQueue>();
  const claimers = new Set<Promise<void>>();
  let stopped = false;

  function lineUp(local: LocalQueue): void {
    if (stopped || local.retired || local.busy || !(hasWork(local) || local.stale)) return;
    ready.add(local);
    startClaimer();
  }

  function startClaimer(): void {
    if (ready.size === 0 || claimers.size >= CLAIMERS || stopped || !lease.isHeld()) return;
    const claimer = drain().finally(() => {
      claimers.delete(claimer);
      // A queue that joined the line after our last check of it, but before we left, saw a claimer still running.
      startClaimer();
    });
    claimers.add(claimer);
  }

  async function drain(): Promise<void> {
    // Starts after the current turn of the event loop, so that slots freed together share one claim.
    await new Promise<void>((resolve) => time.soon(resolve));
    for (let local = next(); local !== undefined && !stopped; local = next()) {
      try {
        await serve(local);
      } catch (error) {
        log.warn({ queue: local.queue, err: error }, "claim.failed");
        local.waiting = Number.POSITIVE_INFINITY;
        await new Promise<void>((resolve) => time.setTimer(resolve, NAP_AFTER_ERROR_MS));
        ready.add(local);
      }
    }
  }

  function next(): LocalQueue | undefined {
    const [local] = lease.isHeld() ? ready : [];
    if (local !== undefined) ready.delete(local);
    return local;
  }

  async function serve(local: LocalQueue): Promise<void> {
    if (local.busy || local.retired) return;
    local.busy = true;
    deps.lines?.joinLine(local);
    try {
      if (local.stale) await acquire(local);
      else if (localQueues.free(local) > 0 && takeTurnOfFlows(local)) await deps.claimFlows?.(local);
      else if (local.waiting > 0) await claim(local);
    } finally {
      local.busy = false;
    }
    const current = localQueues.find(local.teamId, local.queue);
    if (current !== undefined) deps.lines?.joinLine(current);
    if (current?.stale || (current !== undefined && hasWork(current) && localQueues.free(current) > 0))
      lineUp(current);
    else if (current !== undefined && hasWork(current) && slotsLeft(current) > 0) crowded.add(current);
    wakeCrowded(current);
  }

  /** Capacity was freed. Waking one waiting queue is enough: when it is served, it wakes the next. */
  function wakeCrowded(except?: LocalQueue): void {
    for (const local of crowded) {
      if (local === except || (localQueues.free(local) <= 0 && !local.retired)) continue;
      crowded.delete(local);
      lineUp(local);
      if (!local.retired) return;
    }
  }

  async function acquire(local: LocalQueue): Promise<void> {
    local.stale = false;
    const grant = await ask(local).catch((error) => {
      local.stale = true;
      throw error;
    });
    if (grant === null) return localQueues.drop(local);
    // The queue was deleted and recreated under the same name: calls of the old one must not fill the new one's slots.
    const replaced = local.grant !== null && local.grant.queueId !== grant.queueId;
    if (replaced) localQueues.drop(local);
    const current = replaced ? localQueues.open(local.teamId, local.queue) : local;
    const before = local.grant;
    current.grant = grant;
    openWindow(current);
    // A change reported during the request may be newer than the grant, which then stays stale. An overdrawn grant has
    // one slot for each call in flight: calls that ended during the request were counted under the previous grant and
    // did not return their slot.
    current.stale = local.stale || (grant.overdrawn && current.inFlight < grant.slots);
    current.waiting = local.waiting;
    current.flows = local.flows;
    current.usedAtMs = time.monotonicMs();
    // Sent once, on the change: two starved workers would otherwise answer each other forever.
    const isNews = (grant.starved && !before?.starved) || grant.slots < (before?.slots ?? 0);
    if (isNews) deps.hint({ kind: "slots", teamId: local.teamId, queue: local.queue });
  }

  async function ask(local: LocalQueue): Promise<SlotGrant | null> {
    await deps.learn([local.teamId]);
    return acquireSlots(database, {
      teamId: local.teamId,
      queue: local.queue,
      workerId: lease.workerId,
      using: local.grant === null ? null : { queueId: local.grant.queueId, inFlight: local.inFlight },
    });
  }

  async function claim(local: LocalQueue): Promise<void> {
    if (local.grant?.holdsHosts && localQueues.free(local) > 0)
      await deps.holdBack?.(local.teamId, local.grant);
    const { teamId, queue, grant, waiting } = local;
    const limit = Math.min(localQueues.free(local), waiting, CLAIM_LIMIT);
    if (grant === null || limit <= 0) return;
    // The claim may miss tasks that arrive meanwhile; they are counted again.
    local.waiting = waiting === Number.POSITIVE_INFINITY ? 0 : waiting - limit;
    local.covering = limit === waiting;
    local.usedAtMs = time.monotonicMs();
    localQueues.take(local, limit);
    let started = 0;
    const beganMs = time.monotonicMs();
    const sinceNotice = deps.lines?.notices ?? 0;
    const question = deps.unanswered.ask();
    try {
      const { queueId, epoch, holdsHosts } = grant;
      const request = { teamId, queue, queueId, epoch, workerId: lease.workerId, limit, holdsHosts };
      const { isCurrent, claims, waitsMs, head } = await deps.claim(local, request, subscribers);
      if (question.isTooOld()) return await deps.release(claims);
      started = claims.length;
      meter.batch("claim", started, time.monotonicMs() - beganMs);
      for (const waitMs of waitsMs) meter.waited(waitMs, teamId, queueId);
      if (!isCurrent) local.stale = true;
      // An ordered claim skips no locked row, and what holds its line is heard of when it ends.
      else if (claims.length < limit && !grant.ordered && local.closed === null) deps.onShort(local);
      // If the number was unknown, more tasks may wait until a claim returns fewer than requested.
      const more = waiting === Number.POSITIVE_INFINITY && claims.length === limit;
      if (!isCurrent || more || local.closed !== null) local.waiting = Number.POSITIVE_INFINITY;
      if (head !== undefined) deps.lines?.headFound(local, head, sinceNotice);
      for (const one of claims) deps.start(one, local);
    } finally {
      question.end();
      local.covering = false;
      localQueues.giveBack(local, limit - started);
    }
  }

  function lookAgain(teamId: number, queue: string): void {
    const local = localQueues.open(teamId, queue);
    local.stale = true;
    local.waiting = Number.POSITIVE_INFINITY;
    lineUp(local);
  }

  function finish(local: LocalQueue): void {
    localQueues.giveBack(local, 1);
    lineUp(local);
    wakeCrowded();
  }

  return {
    notice(teamId, queue, count = Number.POSITIVE_INFINITY) {
      const local = localQueues.open(teamId, queue);
      local.waiting += count;
      lineUp(local);
    },
    refresh(teamId, queue) {
      if (localQueues.find(teamId, queue) === undefined) return false;
      lookAgain(teamId, queue);
      return true;
    },
    lookAgain,
    lineUp,
    reserve(teamId, queue, hasFlow = false) {
      const local = localQueues.find(teamId, queue);
      if (local === undefined || local.grant === null || !mayHandOff(local, hasFlow)) return null;
      if (stopped || localQueues.free(local) <= 0 || !lease.isHeld()) return null;
      localQueues.take(local, 1);
      local.usedAtMs = time.monotonicMs();
      return { local, queueId: local.grant.queueId, epoch: local.grant.epoch };
    },
    giveBack(reservation) {
      reservation.local.stale = true;
      finish(reservation.local);
    },
    finish,
    isCrowded(teamId, queue) {
      const local = localQueues.find(teamId, queue);
      return local !== undefined && slotsLeft(local) > 0 && localQueues.free(local) <= 0;
    },
    wake: () => wakeCrowded(),
    forget() {
      for (const local of localQueues.all) lookAgain(local.teamId, local.queue);
    },
    async dispatchOnce() {
      for (const local of localQueues.all) lineUp(local);
      while (claimers.size > 0) await Promise.all(claimers);
    },
    async stop() {
      stopped = true;
      ready.clear();
      await Promise.all(claimers);
      for (const local of localQueues.all) openWindow(local);
    },
  };
}
