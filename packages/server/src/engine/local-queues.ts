import type { Timer } from "../domain/time.ts";
import type { BegunCall } from "../store/tasks/queue-rates.ts";
import type { SlotGrant } from "../store/tasks/queue-slots.ts";
import { FIRST } from "../store/tasks/turns.ts";
import type { Pool } from "./budget.ts";
import type { Flow } from "./local-flow.ts";

/**
 * This worker's knowledge of one queue: its slots and its waiting tasks. A slot is the right to one call within the
 * queue's concurrency; a grant is the set of slots that the database gave this worker.
 */
export interface LocalQueue {
  readonly teamId: number;
  readonly queue: string;
  /** Null until slots were first requested. */
  grant: SlotGrant | null;
  /** The grant is out of date: request it again before the next claim. */
  stale: boolean;
  /** Calls in flight, and slots reserved for a running claim or insert. */
  inFlight: number;
  /** Known due tasks without a flow; Infinity if the number is unknown. */
  waiting: number;
  /** The turn of the first of them, or an earlier turn. */
  turn: number;
  /** Flows with due tasks here that wait for slots. */
  flows: Set<Flow>;
  /** The last claim for its flows found tasks and took none, because a flow that was not in it might come before them. */
  hasOnlyLooked: boolean;
  /** The queue's rate lets no call begin before this timer rings. Null: a claim may find permits. */
  closed: Timer | null;
  /** Calls that have begun since the last claim, in a queue with a rate. */
  begun: BegunCall[];
  /** A claim or a slot request for it is running. No other may: neither would know what the other leaves. */
  busy: boolean;
  /** The running claim takes all known tasks: a task that arrives now has none before it. */
  covering: boolean;
  /** The queue was deleted or replaced by one of the same name: calls may end, none may start. */
  retired: boolean;
  usedAtMs: number;
}

/** Due tasks are known here, with or without a flow. */
export function hasWork({ waiting, flows }: LocalQueue): boolean {
  return waiting > 0 || flows.size > 0;
}

/** There are further due tasks without a flow: a number, or an unknown number. */
export function expectTasks(local: LocalQueue, count = Number.POSITIVE_INFINITY): void {
  local.waiting += count;
  local.turn = FIRST;
}

/** Other workers have slots of the queue, or could have them. */
export function isShared({ grant }: LocalQueue): boolean {
  return grant === null || grant.slots < grant.concurrency;
}

export function slotsLeft({ grant, closed, inFlight }: LocalQueue): number {
  return grant === null || grant.paused || closed !== null ? 0 : grant.slots - inFlight;
}

/** Another worker has the one slot of this ordered queue, and claims what is first in its line. */
export function isLineElsewhere({ grant, stale }: LocalQueue): boolean {
  return grant !== null && !stale && grant.ordered && grant.slots === 0;
}

/**
 * Whether a new task, with or without a flow, may start as soon as it is stored: no task of the queue waits for a slot that may come before it.
 * A running claim may leave such a task. In other queues only a claim knows whether the next task may start.
 */
export function mayHandOff({ grant, stale, waiting, flows, busy, covering }: LocalQueue): boolean {
  if (grant === null || stale) return false;
  const { ordered, rate, holdsHosts } = grant;
  const isAllowed = !ordered && rate === null && !holdsHosts;
  if (!isAllowed || waiting > 0 || flows.size > 0) return false;
  return !busy || covering;
}

/**
 * Whether a claim for this queue may be one for other queues too: it has due tasks without a flow, and neither order nor rate nor held
 * hosts, which take statements of their own.
 */
export function mayShareClaim({ grant, stale, waiting, flows }: LocalQueue): boolean {
  if (grant === null || stale || waiting === 0 || flows.size > 0) return false;
  return !grant.ordered && grant.rate === null && !grant.holdsHosts;
}

/**
 * Whether a call may start before the last one is settled. Not in order, where the next task depends on how the last one ended, and not
 * with a circuit breaker, which counts how calls end.
 */
export function startsBeforeSettled({ grant }: LocalQueue): boolean {
  return grant !== null && !grant.ordered && grant.breaker === null;
}

/** Its rate may let calls begin: the next claim finds out. */
export function openWindow(local: LocalQueue): void {
  local.closed?.cancel();
  local.closed = null;
}

export interface LocalQueues {
  readonly all: Iterable<LocalQueue>;
  find(teamId: number, queue: string): LocalQueue | undefined;
  open(teamId: number, queue: string): LocalQueue;
  drop(local: LocalQueue): void;
  /** The number of further calls that may start now. */
  free(local: LocalQueue): number;
  take(local: LocalQueue, count: number): void;
  /** Calls have ended, or reserved slots were not used. An overdrawn grant becomes stale: another worker waits for the slots. */
  giveBack(local: LocalQueue, count: number): void;
  readonly inFlight: number;
}

/** The queues of one worker: their slots, within the team's budget on this node. */
export function createLocalQueues(pool: Pool): LocalQueues {
  const localQueues = new Map<string, LocalQueue>();

  function add(local: LocalQueue, count: number): void {
    local.inFlight += count;
    if (count > 0) pool.take(local.teamId, count);
    else pool.giveBack(local.teamId, -count);
  }

  return {
    get all() {
      return localQueues.values();
    },
    get inFlight() {
      return pool.total;
    },
    find: (teamId, queue) => localQueues.get(`${teamId}/${queue}`),
    open(teamId, queue) {
      const key = `${teamId}/${queue}`;
      const known = localQueues.get(key);
      if (known !== undefined) return known;
      const local: LocalQueue = {
        teamId,
        queue,
        grant: null,
        stale: true,
        inFlight: 0,
        waiting: 0,
        turn: FIRST,
        flows: new Set(),
        hasOnlyLooked: false,
        closed: null,
        begun: [],
        busy: false,
        covering: false,
        retired: false,
        usedAtMs: 0,
      };
      localQueues.set(key, local);
      return local;
    },
    drop(local) {
      if (!local.retired) localQueues.delete(`${local.teamId}/${local.queue}`);
      local.retired = true;
      openWindow(local);
    },
    free(local) {
      if (local.closed !== null || local.retired || local.grant === null || local.grant.paused) return 0;
      // Slots beyond the limit belong to calls in flight and are returned as these end.
      if (local.grant.overdrawn) return 0;
      return Math.min(local.grant.slots - local.inFlight, pool.room(local.teamId));
    },
    take: (local, count) => add(local, count),
    giveBack(local, count) {
      add(local, -count);
      if (count > 0 && local.grant?.overdrawn) local.stale = true;
    },
  };
}
