import { CLAIM_LIMIT, type ClaimDueDeps, createClaimDue } from "./claim-due.ts";
import {
  expectTasks,
  hasWork,
  type LocalQueue,
  mayHandOff,
  mayShareClaim,
  openWindow,
  slotsLeft,
} from "./local-queues.ts";
import type { Log } from "./log.ts";
import { type RoundCost, WHOLE } from "./round-cost.ts";
import { createSlotRequests, type SlotRequestDeps } from "./slot-requests.ts";

/** Queues that are served by one statement. More would hold their rows, or their first tasks, for too long. */
const QUEUES_TOGETHER = 50;
/** Concurrent claims: one waits for the disk while the other is planned. */
const CLAIMERS = 2;
export const CLAIM_COST: RoundCost = { rows: CLAIM_LIMIT, bytes: CLAIM_LIMIT * WHOLE, turns: "in turn" };
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
  reserve(teamId: number, queue: string): Reservation | null;
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

const needsSlots = ({ stale }: LocalQueue) => stale;

/**
 * Decides which call starts next. Queues with work and capacity wait in line. Each turn makes one claim and moves the
 * queue to the end, so the least recently served queue is first.
 */
export function createDispatcher(
  deps: SlotRequestDeps &
    ClaimDueDeps & {
      readonly log: Log;
      /** Claims tasks of flows with slots of this queue, and with them the tasks without a flow. */
      readonly claimFlows?: (local: LocalQueue) => Promise<void>;
    },
): Dispatcher {
  const { localQueues, lease, time, log } = deps;
  const ready = new Set<LocalQueue>();
  /** Queues with work and slots but without capacity on the node or in their team's budget. */
  const crowded = new Set<LocalQueue>();
  const requestSlots = createSlotRequests(deps);
  const claimDue = createClaimDue(deps);
  /** Queues whose request failed together with others. Each asks by itself next: one locked row must not hold up the rest. */
  const alone = new WeakSet<LocalQueue>();
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
      const served = takeTogether(local);
      try {
        await serve(served);
      } catch (error) {
        log.warn({ queue: local.queue, queues: served.length, err: error }, "claim.failed");
        for (const each of served) expectTasks(each);
        await new Promise<void>((resolve) => time.setTimer(resolve, NAP_AFTER_ERROR_MS));
        for (const each of served) {
          if (served.length > 1) alone.add(each);
          ready.add(each);
        }
      }
    }
  }

  function next(): LocalQueue | undefined {
    const [local] = lease.isHeld() ? ready : [];
    if (local !== undefined) ready.delete(local);
    return local;
  }

  /** The queue, or with it those in line that need the same: one statement serves many. */
  function takeTogether(local: LocalQueue): readonly LocalQueue[] {
    if (local.busy || local.retired) return [];
    const needs = local.stale ? needsSlots : mayShareClaim;
    if (alone.delete(local) || !needs(local)) return [local];
    const together = [local];
    for (const other of ready) {
      if (together.length === QUEUES_TOGETHER) break;
      if (other.busy || other.retired || alone.has(other) || !needs(other)) continue;
      ready.delete(other);
      together.push(other);
    }
    return together;
  }

  /** One queue, or several that need the same. */
  async function serve(locals: readonly LocalQueue[]): Promise<void> {
    for (const local of locals) {
      local.busy = true;
      deps.lines?.joinLine(local);
    }
    const [local] = locals;
    if (local === undefined) return;
    try {
      if (local.stale) await requestSlots(locals);
      else if (local.flows.size > 0 && !local.grant?.ordered) await claimWithFlows(local);
      else if (local.waiting > 0) await claimDue(locals);
    } finally {
      for (const each of locals) each.busy = false;
    }
    for (const { teamId, queue } of locals) lineUpAgain(localQueues.find(teamId, queue));
  }

  async function claimWithFlows(local: LocalQueue): Promise<void> {
    if (localQueues.free(local) > 0) await deps.claimFlows?.(local);
  }

  function lineUpAgain(current: LocalQueue | undefined): void {
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

  function lookAgain(teamId: number, queue: string): void {
    const local = localQueues.open(teamId, queue);
    local.stale = true;
    expectTasks(local);
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
      expectTasks(local, count);
      lineUp(local);
    },
    refresh(teamId, queue) {
      if (localQueues.find(teamId, queue) === undefined) return false;
      lookAgain(teamId, queue);
      return true;
    },
    lookAgain,
    lineUp,
    reserve(teamId, queue) {
      const local = localQueues.find(teamId, queue);
      if (local === undefined || local.grant === null || !mayHandOff(local)) return null;
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
