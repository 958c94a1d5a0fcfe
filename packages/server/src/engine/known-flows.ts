import type { Time } from "../domain/time.ts";
import type { FlowState } from "../store/tasks/flow-claims.ts";
import { FIRST, NEVER } from "../store/tasks/turns.ts";
import type { SayHint } from "./hints.ts";
import { createLocalFlow, type Flow } from "./local-flow.ts";
import { isLineElsewhere, type LocalQueue, type LocalQueues } from "./local-queues.ts";

/** Other nodes make the calls of a full flow. If their hint is lost, this worker finds the free place this late at worst. */
const FULL_MS = 5_000;

/** The flows that this worker knows: which wait for slots, and which for something else. */
export interface KnownFlows {
  find(teamId: number, key: string): Flow | undefined;
  open(teamId: number, key: string): Flow;
  /** Forgets a flow without due tasks and calls. */
  forgetIdle(flow: Flow): void;
  /** There are due tasks of the flow in this queue, the first with this turn or a later one. */
  note(flow: Flow, queue: string, turn?: number): void;
  /** The number of the last notice, of whatever flow. */
  readonly notices: number;
  /** Something may have freed a place of the flow. */
  noteWake(flow: Flow): void;
  /** The limits or the pause of the flow may have changed. */
  noteRefresh(flow: Flow): void;
  /** The flow waits for slots in every queue that has tasks of the flow. */
  lineUp(flow: Flow): void;
  block(flow: Flow, kind: FlowState["kind"], waitMs: number | null): void;
  /** A claim answered that no task of the flow may begin. If the worker noticed a change since it sent the claim, the flow lines up again. */
  holdUp(flow: Flow, state: FlowState, since: Pick<Flow, "wakes" | "refreshes">): void;
  unblock(flow: Flow): void;
  leaveLine(flow: Flow): void;
  leaveLane(flow: Flow, local: LocalQueue): void;
  /** The first task of the flow's line may start. Returns whether the flow waited for that. */
  wakeLine(flow: Flow): boolean;
  tellOthers(flow: Flow): void;
  /** Tells the workers that claim the lines of ordered queues in which tasks of the flow wait: a place may be free. */
  tellLines(flow: Flow): void;
  /**
   * A worker claims the line of an ordered queue whatever flows its tasks have, so the flows stop waiting for the queue's slot. If
   * another worker has that slot, this worker tells it.
   */
  joinLine(local: LocalQueue): void;
  stop(): void;
}

export function createKnownFlows(deps: {
  readonly localQueues: LocalQueues;
  readonly lineUp: (local: LocalQueue) => void;
  readonly hint: SayHint;
  readonly time: Time;
}): KnownFlows {
  const { localQueues, time } = deps;
  const flows = new Map<string, Flow>();
  let notices = 0;
  let stopped = false;

  function note(flow: Flow, queue: string, turn = FIRST): void {
    notices += 1;
    flow.lanes.set(queue, Math.min(turn, flow.lanes.get(queue) ?? NEVER));
  }

  function lineUp(flow: Flow): void {
    if (!stopped) for (const queue of flow.lanes.keys()) lineUpIn(flow, queue);
  }

  function noteWake(flow: Flow): void {
    notices += 1;
    flow.wakes = notices;
  }

  function lineUpIn(flow: Flow, queue: string): void {
    const local = localQueues.open(flow.teamId, queue);
    if (isLineElsewhere(local)) return;
    local.flows.add(flow);
    deps.lineUp(local);
  }

  function unblock(flow: Flow): void {
    flow.timer?.cancel();
    flow.timer = null;
    flow.blocked = null;
  }

  function block(flow: Flow, kind: FlowState["kind"], waitMs: number | null): void {
    unblock(flow);
    flow.blocked = kind;
    leaveLine(flow);
    if (waitMs === null || stopped) return;
    const wake = () => {
      unblock(flow);
      lineUp(flow);
    };
    flow.timer = time.setTimer(wake, Math.max(1, Math.ceil(waitMs)));
  }

  /** The flow waits for slots of this queue alone: the queue has the first task of the flow's line, and all other tasks wait for that one. */
  function waitFor(flow: Flow, queue: string, turn: number): void {
    flow.lanes.set(queue, turn);
    if (stopped) return;
    if (isElsewhere(flow, queue)) deps.hint({ kind: "due", teamId: flow.teamId, queue });
    else lineUpIn(flow, queue);
  }

  function tellOthers(flow: Flow): void {
    if (flow.isTold) return;
    flow.isTold = true;
    for (const [queue, turn] of flow.lanes)
      if (turn < NEVER) deps.hint({ kind: "flow", teamId: flow.teamId, queue, flow: flow.key, turn });
  }

  function leaveLine(flow: Flow): void {
    for (const queue of flow.lanes.keys()) localQueues.find(flow.teamId, queue)?.flows.delete(flow);
  }

  function forgetIdle(flow: Flow): void {
    if (flow.lanes.size > 0) return;
    flow.isTold = false;
    unblock(flow);
    if (flow.calls === 0) flows.delete(`${flow.teamId}/${flow.key}`);
  }

  function isElsewhere({ teamId }: Flow, queue: string): boolean {
    const local = localQueues.find(teamId, queue);
    return local !== undefined && isLineElsewhere(local);
  }

  return {
    get notices() {
      return notices;
    },
    find: (teamId, key) => flows.get(`${teamId}/${key}`),
    open(teamId, key) {
      const name = `${teamId}/${key}`;
      const known = flows.get(name);
      if (known !== undefined) return known;
      const flow = createLocalFlow(teamId, key);
      flows.set(name, flow);
      return flow;
    },
    forgetIdle,
    note,
    noteWake,
    noteRefresh(flow) {
      noteWake(flow);
      flow.refreshes = flow.wakes;
    },
    lineUp,
    block,
    holdUp(flow, state, since) {
      const { kind, waitMs, headQueue, headTurn = FIRST } = state;
      const isTimed = kind === "paused" || kind === "rated";
      // A call that ended meanwhile may have freed a place.
      if (isTimed ? flow.refreshes > since.refreshes : flow.wakes > since.wakes) lineUp(flow);
      else if (isTimed) block(flow, kind, waitMs);
      else {
        if (flow.calls === 0) tellOthers(flow);
        block(flow, kind, flow.calls === 0 ? FULL_MS : null);
        if (kind === "held" && headQueue !== undefined) waitFor(flow, headQueue, headTurn);
      }
    },
    unblock,
    leaveLine,
    leaveLane(flow, local) {
      flow.lanes.delete(local.queue);
      local.flows.delete(flow);
    },
    wakeLine(flow) {
      noteWake(flow);
      if (flow.blocked !== "held") return false;
      unblock(flow);
      // Another task may be the first now.
      for (const queue of flow.lanes.keys()) flow.lanes.set(queue, FIRST);
      return true;
    },
    tellOthers,
    tellLines(flow) {
      for (const queue of flow.lanes.keys()) {
        if (!isElsewhere(flow, queue)) continue;
        deps.hint({ kind: "due", teamId: flow.teamId, queue });
        if (flow.calls === 0) flow.lanes.delete(queue);
      }
    },
    joinLine(local) {
      if (local.flows.size === 0 || local.stale || !local.grant?.ordered) return;
      const { teamId, queue } = local;
      const isHere = !isLineElsewhere(local);
      if (isHere && localQueues.free(local) <= 0) return;
      for (const flow of local.flows) {
        local.flows.delete(flow);
        // While the flow has calls here, it keeps the lane: the end of a call tells the worker that claims the line (tellLines).
        if (isHere || flow.calls === 0) flow.lanes.delete(queue);
        forgetIdle(flow);
      }
      if (isHere) local.waiting = Math.max(1, local.waiting);
      else deps.hint({ kind: "due", teamId, queue });
    },
    stop() {
      stopped = true;
      for (const flow of flows.values()) unblock(flow);
    },
  };
}
