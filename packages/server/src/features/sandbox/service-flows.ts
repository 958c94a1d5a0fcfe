import { choose } from "../../domain/gate/decision.ts";
import { dateOf, flowGate, isPaused, pauseOf } from "../../domain/gate/gate.ts";
import type { Sql } from "../../store/sql.ts";
import {
  lockSandboxFlow,
  type SandboxCandidate,
  type SandboxFlow,
  sandboxCandidates,
  takeSandboxPlaces,
} from "../../store/tasks/sandbox-flows.ts";
import { beginSimulated, readSteps, type Walking } from "./store.ts";

/** The most tasks of one flow that one transaction reads. */
export const MOST_OF_FLOW = 100;

export interface ServedFlow {
  readonly begun: readonly Walking[];
  /** The tasks that may not begin yet. `waitMs`: the time until their next step; null: a change of the flow gives them one. */
  readonly held: readonly { readonly id: string; readonly waitMs: number | null }[];
}

/** Begins the tasks of a flow that its limits let begin. Must run in the transaction of their steps. */
export async function serveSandboxFlow(
  sql: Sql,
  { teamId, key, aheadMs, requestMs }: FlowOfSandbox,
): Promise<ServedFlow> {
  const flow = await lockSandboxFlow(sql, teamId, key, aheadMs);
  const isOrdered = flow?.ordered ?? false;
  const question = { teamId, key, aheadMs, isOrdered, limit: MOST_OF_FLOW + 1 };
  const found = await sandboxCandidates(sql, question);
  const [candidates, [next]] = [found.slice(0, MOST_OF_FLOW), found.slice(MOST_OF_FLOW)];
  const chosen = chooseOf(flow, candidates);
  const begun = chosen.length === 0 ? [] : await readSteps(sql, teamId, requestMs, chosen);
  if (begun.length > 0) {
    await beginSimulated(sql, begun);
    await takeSandboxPlaces(sql, teamId, key, chosen);
  }
  const waitMs = flow === null ? null : untilNextMs(flow, chosen.length);
  const held = candidates.filter(({ id }) => !chosen.includes(id)).map(({ id }) => ({ id, waitMs }));
  // The limits may let more begin: another transaction serves the flow next.
  if (next !== undefined && held.length === 0) return { begun, held: [{ id: next.id, waitMs: 0 }] };
  return { begun, held };
}

export interface FlowOfSandbox {
  readonly teamId: number;
  readonly key: string;
  /** The offset of the sandbox clock. */
  readonly aheadMs: number;
  /** The part of the offset that only this request sees. */
  readonly requestMs: number;
}

function chooseOf(flow: SandboxFlow | null, candidates: readonly SandboxCandidate[]): string[] {
  if (flow === null) return candidates.map(({ id }) => id);
  const keptBy = new Set(candidates.filter(({ hasPlace }) => hasPlace).map(({ id }) => id));
  const oldest = candidates.find(({ isOldest }) => isOldest);
  const first = oldest === undefined ? null : { id: oldest.id, status: "pending" as const };
  const gates = [flowGate(flow, { keptBy, first })];
  const waiting = candidates.map((candidate) => ({ ...candidate, gates }));
  return choose(waiting, flow.now).map(({ id }) => id);
}

/** The step of another task frees a place, and wakes the flow then. Time alone frees a permit. */
function untilNextMs(flow: SandboxFlow, begun: number): number | null {
  const { now, rate } = flow;
  if (isPaused({ pause: pauseOf(flow) }, now) || rate === null || flow.begun + begun < rate) return null;
  const nextAt = dateOf(flow.nextAt);
  // A time of a row is a fraction of a millisecond later than it seems.
  return nextAt === null ? 0 : Math.max(1, nextAt.getTime() - now.getTime() + 1);
}
