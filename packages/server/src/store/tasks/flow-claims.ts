import { type Claim, makeClaim } from "../../domain/claim.ts";
import type { Sql } from "../sql.ts";
import { askHot, createSubscriberMemory } from "./event-writes.ts";
import { CLAIM_FLOW_TASKS, CLAIM_UNHELD_FLOW_TASKS, PERMIT_MS } from "./flow-claim-statement.ts";
import { type Flat, followOf } from "./task-columns.ts";

/*
 * Claims the tasks of flows. Queue slot, place in the flow and permit are taken in one statement or not at all.
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
    /** A circuit breaker of the queue holds hosts back. */
    readonly holdsHosts?: boolean;
  }[];
  /** Where to look for tasks: a flow and one of its queues. */
  readonly lanes: readonly { readonly flow: string; readonly queueId: number }[];
  readonly limit: number;
}

/** What the claim found of one flow. */
export interface FlowState {
  readonly flow: string;
  /** `busy`: another claim has it at this moment. `unknown`: it has no row. Nothing was looked for then. */
  readonly kind: "open" | "paused" | "full" | "rated" | "busy" | "unknown";
  /** When it may open by itself: the end of a pause, or the next permit. Null if unknown. */
  readonly waitMs: number | null;
  /** Places are held until their tasks have ended. */
  readonly holdsTasks: boolean;
  readonly claimed: number;
}

export interface FlowClaimed {
  /** The queues whose slots were valid. The worker must refresh the others. */
  readonly currentQueueIds: readonly number[];
  readonly claims: readonly Claim[];
  readonly waitsMs: readonly number[];
  readonly flows: readonly FlowState[];
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
}

/** One row has what was found of the flows; the others, if they have an id, are the tasks. */
type ClaimedRow = (
  | {
      readonly isTask: false;
      readonly flows: readonly Gate[] | null;
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

/** Takes due tasks of flows, up to the free slots, places and permits. `sentAtMs` is the worker's monotonic clock before. */
export async function claimFlowTasks(
  sql: Sql,
  request: FlowClaimRequest,
  sentAtMs: number,
  memory = createSubscriberMemory(),
): Promise<FlowClaimed> {
  const { teamId, workerId, queues, lanes, limit } = request;
  const queueIds = new Map<string, number[]>();
  for (const { flow, queueId } of lanes) queueIds.set(flow, [...(queueIds.get(flow) ?? []), queueId]);
  const keys = [...queueIds.keys()];
  const rows = await askHot<ClaimedRow>(
    sql,
    queues.some(({ holdsHosts }) => holdsHosts) ? CLAIM_UNHELD_FLOW_TASKS : CLAIM_FLOW_TASKS,
    [
      teamId,
      workerId,
      queues.map(({ queueId }) => queueId),
      queues.map(({ epoch }) => epoch),
      queues.map(({ free }) => free),
      keys,
      keys.map((key) => `{${queueIds.get(key)?.join(",")}}`),
      limit,
    ],
    memory,
  );
  const names = new Map(queues.map(({ queueId, queue }) => [queueId, queue]));
  const claims: Claim[] = [];
  const waitsMs: number[] = [];
  const counts = new Map<string, number>();
  const found = rows.find((row) => !row.isTask);
  const gates = new Map((found?.isTask === false ? (found.flows ?? []) : []).map((gate) => [gate.key, gate]));
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
  return {
    currentQueueIds: found?.isTask === false ? found.currentQueueIds : [],
    claims,
    waitsMs,
    flows: keys.map((key) => stateOf(key, gates.get(key), unknown.has(key), counts.get(key) ?? 0)),
  };
}

/** What is left after the claim. */
function stateOf(flow: string, gate: Gate | undefined, isUnknown: boolean, claimed: number): FlowState {
  const known = { flow, holdsTasks: gate?.hold === "task", claimed };
  if (gate === undefined) return { ...known, kind: isUnknown ? "unknown" : "busy", waitMs: null };
  if (gate.isPaused) return { ...known, kind: "paused", waitMs: gate.isPausedForGood ? null : gate.pausedMs };
  const waitMs = gate.permitMs ?? (gate.period ?? 0) * 1000;
  if (gate.permits <= claimed) return { ...known, kind: "rated", waitMs };
  if (gate.places <= claimed) return { ...known, kind: "full", waitMs: null };
  return { ...known, kind: "open", waitMs: null };
}
