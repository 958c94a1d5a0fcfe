import { type Claim, makeClaim } from "../../domain/claim.ts";
import type { Sql } from "../sql.ts";
import { askHot, createSubscriberMemory, type HotStatement } from "./event-writes.ts";
import { type FlowLane, type FoundLane, flowLanes, type PlainLane, plainLanes } from "./flow-claim-lanes.ts";
import { PERMIT_MS } from "./flow-claim-parts.ts";
import { CLAIM_FLOW_HEAD, CLAIM_FLOW_TASKS, CLAIM_UNHELD_FLOW_TASKS } from "./flow-claim-statement.ts";
import { CLAIM_FLOW_LINE_HEAD, CLAIM_FLOW_LINES, CLAIM_UNHELD_FLOW_LINES } from "./flow-line-statement.ts";
import { type Flat, followOf } from "./task-columns.ts";
import { FIRST, NEVER } from "./turns.ts";

/*
 * Claims the tasks of flows. Queue slot, place in the flow and permit are taken in one statement or not at all. The tasks without a flow
 * that wait in the same queues are claimed with them: of all that may start, the highest priority starts first.
 *
 * The race: two workers count the places of a flow at once, and both see the last one free. The claim locks the flow's row,
 * but it counts in its snapshot, which may be older than the lock. So every claim changes the version of the flows that it
 * takes from: if the locked row has another version than the snapshot, the count may be too old, and nothing is
 * taken. Places that are given back meanwhile are counted as taken, which is safe.
 */

export interface FlowClaimRequest {
  readonly teamId: number;
  readonly workerId: number;
  /** The slots of this worker that the claim may use. */
  readonly queues: readonly {
    readonly queueId: number;
    readonly queue: string;
    readonly epoch: number;
    readonly free: number;
    /** The most tasks without a flow to look for; none by default, and none in a claim of ordered flows. */
    readonly plain?: number;
    /** The last turn that may start: a flow that is not in this claim may have the next. */
    readonly last?: number;
    /** A circuit breaker of the queue holds hosts back. */
    readonly holdsHosts?: boolean;
  }[];
  /** Where to look for tasks: a flow and one of its queues. */
  readonly lanes: readonly { readonly flow: string; readonly queueId: number }[];
  readonly limit: number;
  /** All of the flows are ordered, as far as the worker knows. */
  readonly isOrdered?: boolean;
  /** The task at the head of the one queue, which is ordered and locked: no other is taken. */
  readonly headId?: string;
}

/** What the claim found of one flow. */
export interface FlowState {
  readonly flow: string;
  /**
   * `busy`: another claim has locked the flow. `unknown`: the flow has no row. `ordered`, `unordered`: the other statement claims its
   * tasks. `unopened`: its line has not begun. In these states the claim looked for no task. `held`: a task that has begun holds its line.
   */
  readonly kind:
    | "open"
    | "paused"
    | "full"
    | "rated"
    | "busy"
    | "unknown"
    | "ordered"
    | "unordered"
    | "unopened"
    | "held";
  /** When it may open by itself: the end of a pause, or the next permit. Null if unknown. */
  readonly waitMs: number | null;
  /** Places are held until their tasks have ended. */
  readonly holdsTasks: boolean;
  readonly claimed: number;
  /** Of an ordered flow: the queue whose slot the first task of its line waits for, and the turn of that task there. */
  readonly headQueue?: string;
  readonly headTurn?: number;
}

export interface FlowClaimed {
  /** The queues whose slots were valid. The worker must refresh the others. */
  readonly currentQueueIds: readonly number[];
  readonly claims: readonly Claim[];
  readonly waitsMs: readonly number[];
  readonly flows: readonly FlowState[];
  /** Of each flow and queue in which the claim found tasks. */
  readonly lanes: readonly FlowLane[];
  /** Of each queue where it looked for tasks without a flow. */
  readonly plain: readonly PlainLane[];
}

/** A flow that this claim locked and could count. */
interface Gate {
  readonly key: string;
  readonly isPaused: boolean;
  readonly isPausedForGood: boolean;
  readonly pausedMs: number | null;
  readonly places: number;
  readonly permits: number;
  readonly permitMs: number | null;
  readonly period: number | null;
  readonly hold: string | null;
  readonly isOrdered: boolean;
  /** Of the claimed tasks, those that had kept their places. */
  readonly kept: number;
}

/** The statement returns the state of an ordered flow in one or two parts. */
interface LineGate extends Partial<Omit<Gate, "places" | "hold" | "isOrdered" | "kept">> {
  readonly key: string;
  readonly kind?: "busy" | "unordered" | "unopened";
  readonly isHeld?: boolean;
  readonly headId?: string;
  readonly headQueueId?: number;
  readonly headQueue?: string;
  readonly headTurn?: number;
}

/** One row has what was found of the flows; the others, if they have an id, are the tasks. */
type ClaimedRow = (
  | {
      readonly isTask: false;
      readonly flows: readonly (Gate | LineGate)[] | null;
      readonly lanes: readonly FoundLane[] | null;
      readonly unknown: readonly string[] | null;
      readonly currentQueueIds: readonly number[];
    }
  | { readonly isTask: true }
) &
  (
    | (Flat<Omit<Claim, "attempt" | "teamId" | "queue" | "workerId" | "startByMs">> & {
        readonly body: string | null;
        readonly attemptCount: number;
        readonly runAt: Date;
      })
    | { readonly id: null }
  );

/** Takes due tasks of flows, and of no flow where the request says so, up to the free slots, places and permits. `sentAtMs` is the worker's monotonic clock before. */
export async function claimFlowTasks(
  sql: Sql,
  request: FlowClaimRequest,
  sentAtMs: number,
  memory = createSubscriberMemory(),
): Promise<FlowClaimed> {
  const { teamId, workerId, queues, lanes, limit, isOrdered = false, headId } = request;
  const queueIds = new Map<string, number[]>();
  for (const { flow, queueId } of lanes) queueIds.set(flow, [...(queueIds.get(flow) ?? []), queueId]);
  const keys = [...queueIds.keys()];
  const rows = await askHot<ClaimedRow>(
    sql,
    statementFor(request),
    [
      teamId,
      workerId,
      queues.map(({ queueId }) => queueId),
      queues.map(({ epoch }) => epoch),
      queues.map(({ free }) => free),
      keys,
      limit,
      // The line of an ordered flow goes over all of its queues.
      ...(isOrdered ? [] : [keys.map((key) => `{${queueIds.get(key)?.join(",")}}`)]),
      queues.map(({ last = NEVER }) => last),
      ...(isOrdered ? [] : [queues.map(({ plain = 0 }) => plain)]),
      ...(headId === undefined ? [] : [headId]),
    ],
    memory,
  );
  const names = new Map(queues.map(({ queueId, queue }) => [queueId, queue]));
  const claims: Claim[] = [];
  const waitsMs: number[] = [];
  const counts = new Map<string, number>();
  const found = rows.find((row) => !row.isTask);
  const gates = new Map<string, Gate | LineGate>();
  for (const gate of (found?.isTask === false ? found.flows : null) ?? [])
    gates.set(gate.key, { ...gates.get(gate.key), ...gate });
  for (const row of rows) {
    if (row.id === null) continue;
    counts.set(row.flow ?? "", (counts.get(row.flow ?? "") ?? 0) + 1);
    const { id, shape, priority, bodyIsJson, sign, message, method, url, headers, body } = row;
    const call = { method, url, headers: headers ?? {}, body };
    const task = { id, shape, priority, bodyIsJson, sign, message, call, follow: followOf(row) };
    const {
      fence,
      attemptCount: attempt,
      attemptStartedAt,
      failures,
      callbackSealed,
      scheduledFor,
      queueId,
    } = row;
    const queue = { teamId, queueId, queue: names.get(queueId) ?? "", workerId };
    const place = {
      flow: row.flow,
      startByMs: gates.get(row.flow ?? "")?.period == null ? null : sentAtMs + PERMIT_MS,
    };
    claims.push({
      ...makeClaim(task, row, queue, {
        fence,
        attempt,
        attemptStartedAt,
        failures,
        callbackSealed,
        scheduledFor,
      }),
      ...place,
    });
    waitsMs.push(attemptStartedAt.getTime() - row.runAt.getTime());
  }
  const unknown = new Set(found?.isTask === false ? found.unknown : null);
  const currentQueueIds = found?.isTask === false ? found.currentQueueIds : [];
  const current = queues.filter(({ queueId }) => currentQueueIds.includes(queueId));
  const taken = new Map<number, number>();
  for (const { queueId } of claims) taken.set(queueId, (taken.get(queueId) ?? 0) + 1);
  const lastTurns = new Map(
    current
      .filter(({ queueId, free }) => (taken.get(queueId) ?? 0) < free)
      .map(({ queueId, last = NEVER }) => [queueId, last]),
  );
  const states = keys.map((flow): FlowState => {
    const gate = gates.get(flow);
    const claimed = counts.get(flow) ?? 0;
    const known = { flow, holdsTasks: false, claimed, waitMs: null };
    if (gate === undefined) return { ...known, kind: unknown.has(flow) ? "unknown" : "busy" };
    return "places" in gate ? stateOf(known, gate) : lineStateOf(known, gate, lastTurns, headId);
  });
  const foundLanes = found?.isTask === false ? (found.lanes ?? []) : [];
  return {
    currentQueueIds,
    claims,
    waitsMs,
    flows: states,
    lanes: flowLanes(foundLanes),
    plain: plainLanes(foundLanes, current, claims),
  };
}

function statementFor({ isOrdered, queues, headId }: FlowClaimRequest): HotStatement {
  if (headId !== undefined) return isOrdered ? CLAIM_FLOW_LINE_HEAD : CLAIM_FLOW_HEAD;
  const holdsHosts = queues.some((queue) => queue.holdsHosts);
  if (isOrdered) return holdsHosts ? CLAIM_UNHELD_FLOW_LINES : CLAIM_FLOW_LINES;
  return holdsHosts ? CLAIM_UNHELD_FLOW_TASKS : CLAIM_FLOW_TASKS;
}

type Known = Omit<FlowState, "kind" | "headQueue" | "headTurn">;

/** What is left after the claim. */
function stateOf(flow: Known, gate: Gate): FlowState {
  const known = { ...flow, holdsTasks: gate.hold === "task" };
  if (gate.isOrdered) return { ...known, kind: "ordered" };
  if (gate.isPaused) return { ...known, kind: "paused", waitMs: gate.isPausedForGood ? null : gate.pausedMs };
  if (gate.permits <= flow.claimed) return { ...known, kind: "rated", waitMs: permitWaitMs(gate) };
  if (gate.places <= flow.claimed - gate.kept) return { ...known, kind: "full" };
  return { ...known, kind: "open" };
}

/**
 * `lastTurns` has the queues that had a slot left. If the claim did not take the head of such a queue, and it was the head's turn, another
 * transaction had locked the task, or the claim asked for another task.
 */
function lineStateOf(
  known: Known,
  gate: LineGate,
  lastTurns: ReadonlyMap<number, number>,
  askedId: string | undefined,
): FlowState {
  if (gate.kind !== undefined) return { ...known, kind: gate.kind };
  if (gate.isPaused)
    return { ...known, kind: "paused", waitMs: gate.isPausedForGood ? null : (gate.pausedMs ?? null) };
  if (known.claimed > 0) return { ...known, kind: "held" };
  if (gate.permits === 0) return { ...known, kind: "rated", waitMs: permitWaitMs(gate) };
  const { headQueueId, headQueue, headTurn = FIRST } = gate;
  if (headQueueId === undefined || headQueue === undefined)
    return { ...known, kind: gate.isHeld ? "held" : "open" };
  const isOther = askedId !== undefined && gate.headId !== askedId;
  const lastTurn = lastTurns.get(headQueueId);
  return lastTurn !== undefined && headTurn <= lastTurn && !isOther
    ? { ...known, kind: "busy" }
    : { ...known, kind: "held", headQueue, headTurn };
}

function permitWaitMs({ permitMs, period }: Pick<LineGate, "permitMs" | "period">): number {
  return permitMs ?? (period ?? 0) * 1000;
}
