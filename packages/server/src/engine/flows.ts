import type { Claim } from "../domain/claim.ts";
import type { NewTask } from "../domain/task.ts";
import type { ChangedTask } from "../domain/task-changes.ts";
import type { Time } from "../domain/time.ts";
import type { Sql } from "../store/sql.ts";
import { createSubscriberMemory } from "../store/tasks/event-writes.ts";
import type { FlowClaimed, FlowState } from "../store/tasks/flow-claims.ts";
import { openFlowLines } from "../store/tasks/flow-lines.ts";
import { openFlow } from "../store/tasks/flow-places.ts";
import { NO_QUEUE } from "../store/tasks/hints.ts";
import type { HeadState } from "../store/tasks/ordered-claims.ts";
import { NEVER } from "../store/tasks/turns.ts";
import type { Breakers } from "./breakers.ts";
import { createFlowCalls } from "./flow-calls.ts";
import { chooseFlows, claimRequest, forgetPlain, learnPlain } from "./flow-claim-request.ts";
import { forgetMark, hasOnlyLooked, learnLanes, type Mark, markOf, turnsOf } from "./flow-lanes.ts";
import type { SayHint } from "./hints.ts";
import { createKnownFlows, type KnownFlows } from "./known-flows.ts";
import type { Lease } from "./lease.ts";
import type { Flow } from "./local-flow.ts";
import { isShared, type LocalQueue, type LocalQueues } from "./local-queues.ts";
import type { Log } from "./log.ts";
import { type EngineMeter, NO_METER } from "./meter.ts";
import type { QueueClaims } from "./queue-claims.ts";
import type { Unanswered } from "./unanswered.ts";

/** Another node's claim has the flow: it is over in a few milliseconds. */
const BUSY_MS = 5;

/** What is known of tasks that are due. */
export interface NoticeOfFlow {
  /** They were just created, and are behind all others of the flow. */
  readonly isNew?: boolean;
  /** None has an earlier turn. */
  readonly turn?: number;
}

export interface Flows {
  /** There are due tasks of the flow in this queue. */
  notice(teamId: number, key: string, queue: string, about?: NoticeOfFlow): void;
  /** The flow's limits or pause changed, or a claim should find out whether they did. */
  refresh(teamId: number, key: string, queue?: string, turn?: number): void;
  /** Claims tasks of flows that wait for slots of this queue, and with them the tasks without a flow. */
  claim(local: LocalQueue): Promise<void>;
  /** Whether a new task of the flow may start without a claim: as far as is known here, none waits before it. */
  mayHandOff(teamId: number, flow: NonNullable<NewTask["flow"]>): boolean;
  /** The call of a task that was stored with its place in its flow is about to start. */
  handedOff(claim: Claim): void;
  readonly joinLine: KnownFlows["joinLine"];
  /** For `headFound`: what is noticed after this may not be in the answer to a claim. */
  notices(): number;
  /** What a claim of an ordered queue found of the flow of its first task. */
  headFound(local: LocalQueue, head: HeadState, sinceNotice: number): void;
  /** The call begins now. */
  began(claim: Claim): void;
  /** The target answered 429 or 503 with Retry-After. */
  askedToWait(claim: Claim, waitMs: number): void;
  /** The attempt was settled, and its place given back. */
  left(claim: Claim): void;
  /** The attempt is settled. */
  ended(claim: Claim): void;
  /** A task has ended or was deleted. One whose call this worker made is reported by `ended` too. */
  taskEnded(task: Pick<ChangedTask, "teamId" | "flow">): void;
  drained(): Promise<void>;
  stop(): void;
}

/**
 * Decides which flows claim. A flow whose limits let no task begin waits until a place or a permit is free; the others
 * wait for slots in the queues that have their tasks. Kept in memory: the database decides in each claim.
 */
export function createFlows(deps: {
  readonly database: Sql;
  /** For what follows a call: permits that are confirmed, places that are given back. */
  readonly chores: Sql;
  readonly localQueues: LocalQueues;
  readonly lease: Lease;
  readonly unanswered: Unanswered;
  readonly lineUp: (local: LocalQueue) => void;
  readonly start: (claim: Claim, local: LocalQueue) => void;
  readonly release: (claims: readonly Claim[]) => Promise<void>;
  readonly hint: SayHint;
  /** A claim found fewer tasks without a flow than it looked for. */
  readonly onShort: (local: LocalQueue) => void;
  readonly holdBack: Breakers["holdFlowsBack"];
  readonly claimFlows: QueueClaims["claimFlows"];
  readonly time: Time;
  readonly log: Log;
  readonly meter?: EngineMeter;
}): Flows {
  const { localQueues, lease, time, log, meter = NO_METER } = deps;
  const subscribers = createSubscriberMemory();
  const known = createKnownFlows(deps);
  const { open, lineUp, block, unblock, wakeLine, tellOthers } = known;
  let stopped = false;

  const calls = createFlowCalls({ sql: deps.chores, time, log });

  async function claim(local: LocalQueue): Promise<void> {
    const { chosen, offers } = chooseFlows(local, { localQueues, known, lineUp: deps.lineUp });
    const unused = new Map([...offers].map(([queue, { free }]) => [queue, free]));
    let marks = new Map<Flow, Mark>();
    const question = deps.unanswered.ask();
    const undo = () => {
      forgetPlain(offers);
      for (const [flow, mark] of marks) forgetMark(flow, mark);
      for (const flow of chosen) lineUp(flow);
    };
    try {
      if (offers.size === 0) return undo();
      await deps.holdBack(offers, chosen);
      const sentAtMs = time.monotonicMs();
      const asked = claimRequest(local.teamId, lease.workerId, chosen, offers);
      marks = new Map(chosen.map((flow) => [flow, markOf(flow, offers)]));
      const claimed = await deps.claimFlows(offers.keys(), asked, subscribers);
      if (question.isTooOld()) {
        await deps.release(claimed.claims);
        return undo();
      }
      meter.batch("claim", claimed.claims.length, time.monotonicMs() - sentAtMs);
      start(claimed, unused);
      local.hasOnlyLooked = hasOnlyLooked(local, claimed);
      for (const short of learnPlain(offers, claimed.plain)) deps.onShort(short);
      const unopened = claimed.flows.filter(({ kind }) => kind === "unopened").map(({ flow }) => flow);
      if (unopened.length > 0) await openFlowLines(deps.database, local.teamId, unopened);
      const byKey = new Map(chosen.map((flow) => [flow.key, flow]));
      const nextTurns = turnsOf(claimed.lanes);
      for (const state of claimed.flows) {
        const flow = byKey.get(state.flow);
        const before = flow && marks.get(flow);
        if (flow === undefined || before === undefined) continue;
        learnLanes(flow, state, before, nextTurns);
        await digest(flow, state, before, unused);
      }
    } catch (error) {
      undo();
      throw error;
    } finally {
      question.end();
      for (const [other, count] of unused) {
        localQueues.giveBack(other, count);
        if (other === local) continue;
        other.busy = false;
        deps.lineUp(other);
      }
    }
  }

  function start({ claims, waitsMs, currentQueueIds }: FlowClaimed, unused: Map<LocalQueue, number>): void {
    const current = new Set(currentQueueIds);
    const byId = new Map([...unused.keys()].map((local) => [local.grant?.queueId, local]));
    for (const local of unused.keys()) if (!current.has(local.grant?.queueId ?? 0)) local.stale = true;
    for (const [index, one] of claims.entries()) {
      const local = byId.get(one.queueId);
      if (local === undefined) continue;
      unused.set(local, (unused.get(local) ?? 0) - 1);
      local.usedAtMs = time.monotonicMs();
      meter.waited(waitsMs[index] ?? 0, one.teamId, one.queueId);
      if (one.flow !== null) open(one.teamId, one.flow).calls += 1;
      deps.start(one, local);
    }
  }

  /** Decides from the answer to a claim what the flow waits for now. */
  async function digest(
    flow: Flow,
    state: FlowState,
    before: Mark,
    unused: ReadonlyMap<LocalQueue, number>,
  ): Promise<void> {
    flow.holdsTasks = state.holdsTasks;
    switch (state.kind) {
      case "unknown":
        await openFlow(deps.database, flow.teamId, flow.key);
        return lineUp(flow);
      case "ordered":
      case "unordered":
        flow.isOrdered = state.kind === "ordered";
        return lineUp(flow);
      case "unopened":
      case "busy":
        return block(flow, "busy", BUSY_MS);
      case "held":
      case "full":
      case "paused":
      case "rated":
        return known.holdUp(flow, state, before);
      case "open":
        for (const local of before.asked.keys()) {
          if (flow.lanes.get(local.queue) === NEVER) known.leaveLane(flow, local);
          else if ((unused.get(local) ?? 0) <= 0 && isShared(local)) tellOthers(flow);
        }
        if (flow.lanes.size === 0) return known.forgetIdle(flow);
        return lineUp(flow);
    }
  }

  function headFound(local: LocalQueue, head: HeadState, sinceNotice: number): void {
    const flow = open(local.teamId, head.flow);
    flow.holdsTasks = head.holdsTasks;
    flow.isOrdered = head.isOrdered;
    if (head.claimed > 0) {
      flow.calls += 1;
      return;
    }
    known.note(flow, local.queue);
    const { headQueue, ...state } = head;
    const elsewhere = headQueue === undefined || headQueue === local.queue ? {} : { headQueue };
    if (["held", "full", "paused", "rated"].includes(head.kind))
      known.holdUp(flow, { ...state, ...elsewhere }, { wakes: sinceNotice, refreshes: sinceNotice });
    else block(flow, "busy", BUSY_MS);
  }

  return {
    joinLine: known.joinLine,
    notices: () => known.notices,
    headFound,
    notice(teamId, key, queue, { isNew = false, turn } = {}) {
      if (stopped) return;
      const flow = open(teamId, key);
      known.note(flow, queue, turn);
      // It may be the one that holds the line, or come before it.
      if (!isNew) wakeLine(flow);
      if (flow.blocked === null) lineUp(flow);
    },
    refresh(teamId, key, queue, turn) {
      const flow = queue === undefined ? known.find(teamId, key) : open(teamId, key);
      if (flow === undefined || stopped) return;
      known.noteRefresh(flow);
      if (queue !== undefined) known.note(flow, queue, turn);
      unblock(flow);
      lineUp(flow);
    },
    claim,
    mayHandOff(teamId, { key, rate, ordered }) {
      const flow = known.find(teamId, key);
      if (stopped || rate !== null || ordered === true) return false;
      return flow === undefined || (flow.lanes.size === 0 && flow.blocked === null && !flow.isOrdered);
    },
    handedOff(one) {
      if (one.flow !== null) open(one.teamId, one.flow).calls += 1;
    },
    began: calls.began,
    askedToWait: calls.askedToWait,
    left: calls.left,
    ended(one) {
      if (one.flow === null) return;
      const flow = open(one.teamId, one.flow);
      flow.calls -= 1;
      if (wakeLine(flow)) lineUp(flow);
      known.tellLines(flow);
      if (flow.blocked === "full") {
        // The next claim finds the place free by the row of the task.
        unblock(flow);
        lineUp(flow);
        calls.forget(one);
        return;
      }
      calls.ended(one);
      known.forgetIdle(flow);
    },
    taskEnded({ teamId, flow: key }) {
      if (key == null || stopped) return;
      const flow = known.find(teamId, key);
      // Another worker may know tasks that wait for this one's end.
      if (flow === undefined) return deps.hint({ kind: "flow", teamId, queue: NO_QUEUE, flow: key });
      known.tellLines(flow);
      const isFullOfTasks = flow.blocked === "full" && flow.holdsTasks;
      if (isFullOfTasks) unblock(flow);
      if (wakeLine(flow) || isFullOfTasks) lineUp(flow);
    },
    drained: calls.drained,
    stop() {
      stopped = true;
      known.stop();
    },
  };
}
