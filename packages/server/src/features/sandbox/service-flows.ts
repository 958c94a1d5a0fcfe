import type { Sql } from "../../store/sql.ts";
import {
  type Candidate,
  lockSandboxFlow,
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
  const isOrdered = flow?.isOrdered ?? false;
  const question = { teamId, key, aheadMs, isOrdered, limit: MOST_OF_FLOW + 1 };
  const found = await sandboxCandidates(sql, question);
  const [candidates, [next]] = [found.slice(0, MOST_OF_FLOW), found.slice(MOST_OF_FLOW)];
  const chosen = flow === null ? candidates.map(({ id }) => id) : choose(flow, candidates);
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

function choose(flow: SandboxFlow, candidates: readonly Candidate[]): string[] {
  if (flow.isPaused) return [];
  let places = flow.places ?? Number.POSITIVE_INFINITY;
  let permits = flow.permits ?? Number.POSITIVE_INFINITY;
  const chosen: string[] = [];
  for (const { id, hasPlace } of flow.isOrdered ? firstOfLine(flow, candidates) : candidates) {
    const needsPlace = !(flow.holdsTasks && hasPlace);
    if (permits <= 0 || (needsPlace && places <= 0)) continue;
    permits -= 1;
    if (needsPlace) places -= 1;
    chosen.push(id);
  }
  return chosen;
}

/** While tasks hold the line, only the oldest of them may start, once none of them is under way. */
function firstOfLine({ holders }: SandboxFlow, candidates: readonly Candidate[]): readonly Candidate[] {
  const [head] = holders;
  if (head === undefined) return candidates.filter(({ isOldest }) => isOldest);
  return holders.every(({ isPending }) => isPending) ? candidates.filter(({ id }) => id === head.id) : [];
}

/** The step of another task frees a place, and wakes the flow then. Time alone frees a permit. */
function untilNextMs({ isPaused, permits, permitMs }: SandboxFlow, begun: number): number | null {
  if (isPaused || permits === null || permits > begun) return null;
  return permitMs === null ? 0 : Math.max(1, Math.ceil(permitMs));
}
