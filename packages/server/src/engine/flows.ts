import type { Claim } from "../domain/claim.ts";
import type { Time } from "../domain/time.ts";
import type { Sql } from "../store/sql.ts";
import { createSubscriberMemory } from "../store/tasks/event-writes.ts";
import type { FlowClaimed, FlowState } from "../store/tasks/flow-claims.ts";
import { openFlow } from "../store/tasks/flow-places.ts";
import type { Breakers } from "./breakers.ts";
import { createFlowCalls } from "./flow-calls.ts";
import { claimRequest } from "./flow-claim-request.ts";
import type { SayHint } from "./hints.ts";
import type { Lease } from "./lease.ts";
import { createLocalFlow, type Flow } from "./local-flow.ts";
import { isShared, type LocalQueue, type LocalQueues } from "./local-queues.ts";
import type { Log } from "./log.ts";
import { type EngineMeter, NO_METER } from "./meter.ts";
import type { QueueClaims } from "./queue-claims.ts";
import type { Unanswered } from "./unanswered.ts";

const CLAIM_LIMIT = 200;
/** Flows in one claim. */
const MOST_FLOWS = 100;
/** Another node's claim has the flow: it is over in a few milliseconds. */
const BUSY_MS = 5;
/** Other nodes make the calls of a full flow: if their hint is lost, a place is found free this late at worst. */
const FULL_MS = 5_000;

export interface Flows {
  /** There are due tasks of the flow in this queue. */
  notice(teamId: number, key: string, queue: string): void;
  /** The flow's limits or pause changed, or a claim should find out whether they did. */
  refresh(teamId: number, key: string, queue?: string): void;
  /** Claims tasks of flows that wait for slots of this queue. */
  claim(local: LocalQueue): Promise<void>;
  /** The call begins now. */
  began(claim: Claim): void;
  /** The target answered 429 or 503 with Retry-After. */
  askedToWait(claim: Claim, waitMs: number): void;
  /** The attempt is settled. */
  ended(claim: Claim): void;
  /** A task of the team has ended elsewhere than in a call. */
  taskEnded(teamId: number): void;
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
  readonly holdBack: Breakers["holdFlowsBack"];
  readonly claimFlows: QueueClaims["claimFlows"];
  readonly time: Time;
  readonly log: Log;
  readonly meter?: EngineMeter;
}): Flows {
  const { localQueues, lease, time, log, meter = NO_METER } = deps;
  const subscribers = createSubscriberMemory();
  const flows = new Map<string, Flow>();
  /** Full flows whose places are held by tasks that may end anywhere. */
  const fullOfTasks = new Set<Flow>();
  let notices = 0;
  let stopped = false;

  const calls = createFlowCalls({ sql: deps.chores, time, log });

  function open(teamId: number, key: string): Flow {
    const name = `${teamId}/${key}`;
    const known = flows.get(name);
    if (known !== undefined) return known;
    const flow = createLocalFlow(teamId, key);
    flows.set(name, flow);
    return flow;
  }

  function forgetIdle(flow: Flow): void {
    if (flow.lanes.size > 0) return;
    flow.isTold = false;
    unblock(flow);
    if (flow.calls === 0) flows.delete(`${flow.teamId}/${flow.key}`);
  }

  /** Waits for slots in every queue that has tasks of it. */
  function lineUp(flow: Flow): void {
    if (stopped) return;
    for (const queue of flow.lanes.keys()) {
      const local = localQueues.open(flow.teamId, queue);
      local.flows.add(flow);
      deps.lineUp(local);
    }
  }

  function unblock(flow: Flow): void {
    flow.timer?.cancel();
    flow.timer = null;
    flow.blocked = null;
    fullOfTasks.delete(flow);
  }

  function block(flow: Flow, kind: FlowState["kind"], waitMs: number | null): void {
    unblock(flow);
    flow.blocked = kind;
    leaveLine(flow);
    if (kind === "full" && flow.holdsTasks) fullOfTasks.add(flow);
    if (waitMs === null || stopped) return;
    const wake = () => {
      unblock(flow);
      lineUp(flow);
    };
    flow.timer = time.setTimer(wake, Math.max(1, Math.ceil(waitMs)));
  }

  function leaveLine(flow: Flow): void {
    for (const queue of flow.lanes.keys()) localQueues.find(flow.teamId, queue)?.flows.delete(flow);
  }

  function leaveLane(flow: Flow, local: LocalQueue): void {
    flow.lanes.delete(local.queue);
    local.flows.delete(flow);
  }

  /** The flows that wait for this queue, with slots for them in all of their queues: tasks of a flow go by priority there. */
  function prepare(local: LocalQueue): { readonly chosen: Flow[]; readonly queues: Map<LocalQueue, number> } {
    const chosen: Flow[] = [];
    const queues = new Map<LocalQueue, number>();
    for (const flow of local.flows) {
      if (chosen.length === MOST_FLOWS) break;
      // Its tasks here may have been claimed since it lined up: it would be served again and again.
      local.flows.delete(flow);
      if (!flow.lanes.has(local.queue)) continue;
      chosen.push(flow);
      leaveLine(flow);
      for (const queue of flow.lanes.keys()) {
        const other = localQueues.open(flow.teamId, queue);
        if (queues.has(other)) continue;
        const free = other.stale ? 0 : Math.min(localQueues.free(other), CLAIM_LIMIT);
        if (other.stale) deps.lineUp(other);
        if (free <= 0) continue;
        localQueues.take(other, free);
        queues.set(other, free);
      }
    }
    return { chosen, queues };
  }

  async function claim(local: LocalQueue): Promise<void> {
    const { chosen, queues } = prepare(local);
    const unused = new Map(queues);
    const marks = new Map(chosen.map((flow) => [flow, new Map(flow.lanes)]));
    const question = deps.unanswered.ask();
    try {
      if (queues.size === 0) return chosen.forEach(lineUp);
      await deps.holdBack(queues.keys(), chosen);
      const sentAtMs = time.monotonicMs();
      const asked = claimRequest(local.teamId, lease.workerId, chosen, queues, CLAIM_LIMIT);
      const claimed = await deps.claimFlows(queues.keys(), asked, subscribers);
      if (question.isTooOld()) {
        await deps.release(claimed.claims);
        return chosen.forEach(lineUp);
      }
      meter.batch("claim", claimed.claims.length, time.monotonicMs() - sentAtMs);
      start(claimed, queues, unused);
      const byKey = new Map(chosen.map((flow) => [flow.key, flow]));
      for (const state of claimed.flows) {
        const flow = byKey.get(state.flow);
        if (flow !== undefined)
          await digest(flow, state, marks.get(flow) ?? new Map(), queues, unused, claimed);
      }
    } catch (error) {
      for (const flow of chosen) lineUp(flow);
      throw error;
    } finally {
      question.end();
      for (const [other, count] of unused) localQueues.giveBack(other, count);
    }
  }

  function start(
    { claims, waitsMs, currentQueueIds }: FlowClaimed,
    queues: ReadonlyMap<LocalQueue, number>,
    unused: Map<LocalQueue, number>,
  ): void {
    const current = new Set(currentQueueIds);
    const byId = new Map([...queues.keys()].map((local) => [local.grant?.queueId, local]));
    for (const local of queues.keys()) if (!current.has(local.grant?.queueId ?? 0)) local.stale = true;
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
    marks: ReadonlyMap<string, number>,
    queues: ReadonlyMap<LocalQueue, number>,
    unused: ReadonlyMap<LocalQueue, number>,
    { claims }: FlowClaimed,
  ): Promise<void> {
    flow.holdsTasks = state.holdsTasks;
    switch (state.kind) {
      case "unknown":
        await openFlow(deps.database, flow.teamId, flow.key);
        return lineUp(flow);
      case "busy":
        return block(flow, "busy", BUSY_MS);
      case "full":
        if (flow.calls === 0) tellOthers(flow);
        return block(flow, "full", flow.calls === 0 ? FULL_MS : null);
      case "paused":
      case "rated":
        return block(flow, state.kind, state.waitMs);
      case "open":
        for (const [local, offered] of queues) {
          const isNoticed = flow.lanes.get(local.queue) !== marks.get(local.queue);
          const isExhausted = (unused.get(local) ?? 0) <= 0 && offered > 0;
          if (local.closed !== null) continue;
          if (!isNoticed && !isExhausted && !local.stale && claims.length < CLAIM_LIMIT)
            leaveLane(flow, local);
          else if (isExhausted && isShared(local)) tellOthers(flow);
        }
        if (flow.lanes.size === 0) return forgetIdle(flow);
        return lineUp(flow);
    }
  }

  function tellOthers(flow: Flow): void {
    if (flow.isTold) return;
    flow.isTold = true;
    for (const queue of flow.lanes.keys())
      deps.hint({ kind: "flow", teamId: flow.teamId, queue, flow: flow.key });
  }

  return {
    notice(teamId, key, queue) {
      if (stopped) return;
      notices += 1;
      const flow = open(teamId, key);
      flow.lanes.set(queue, notices);
      if (flow.blocked === null) lineUp(flow);
    },
    refresh(teamId, key, queue) {
      const flow = queue === undefined ? flows.get(`${teamId}/${key}`) : open(teamId, key);
      if (flow === undefined || stopped) return;
      notices += 1;
      if (queue !== undefined) flow.lanes.set(queue, notices);
      unblock(flow);
      lineUp(flow);
    },
    claim,
    began: calls.began,
    askedToWait: calls.askedToWait,
    ended(one) {
      if (one.flow === null) return;
      const flow = open(one.teamId, one.flow);
      flow.calls -= 1;
      if (flow.blocked === "full") {
        // The next claim finds the place free by the row of the task.
        unblock(flow);
        lineUp(flow);
        calls.forget(one);
        return;
      }
      calls.ended(one);
      forgetIdle(flow);
    },
    taskEnded(teamId) {
      for (const flow of fullOfTasks) {
        if (flow.teamId !== teamId) continue;
        unblock(flow);
        lineUp(flow);
      }
    },
    drained: calls.drained,
    stop() {
      stopped = true;
      for (const flow of flows.values()) unblock(flow);
    },
  };
}
