import type { Sql } from "../../store/sql.ts";
import {
  type Candidate,
  lockSandboxFlow,
  type SandboxFlow,
  sandboxCandidates,
  takeSandboxPlaces,
} from "../../store/tasks/sandbox-flows.ts";
import { beginSimulated, readSteps, type Walking } from "./store.ts";

/** Tasks of one flow that are looked at together. */
const MOST = 100;

export interface ServedFlow {
  readonly begun: readonly Walking[];
  /** The others that were looked at: when to look again; null: when something of the flow changes. */
  readonly held: readonly { readonly id: string; readonly waitMs: number | null }[];
}

/** Begins the tasks of a flow that its limits let begin. Must run in the transaction of their steps. */
export async function serveSandboxFlow(
  sql: Sql,
  { teamId, key, aheadMs, requestMs }: FlowOfSandbox,
): Promise<ServedFlow> {
  const flow = await lockSandboxFlow(sql, teamId, key, aheadMs);
  const isOrdered = flow?.isOrdered ?? false;
  const candidates = await sandboxCandidates(sql, { teamId, key, aheadMs, isOrdered, limit: MOST });
  const chosen = flow === null ? candidates.map(({ id }) => id) : choose(flow, candidates);
  const begun = chosen.length === 0 ? [] : await readSteps(sql, teamId, requestMs, chosen);
  if (begun.length > 0) {
    await beginSimulated(sql, begun);
    await takeSandboxPlaces(sql, teamId, key, chosen);
  }
  const waitMs = flow === null ? null : untilNextMs(flow, chosen.length);
  const held = candidates.filter(({ id }) => !chosen.includes(id)).map(({ id }) => ({ id, waitMs }));
  return { begun, held };
}

export interface FlowOfSandbox {
  readonly teamId: number;
  readonly key: string;
  /** The offset of the sandbox clock. */
  readonly aheadMs: number;
  /** The part of it that only this request sees. */
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

/** What holds the line goes on first, and nothing else starts meanwhile. */
function firstOfLine({ holders }: SandboxFlow, candidates: readonly Candidate[]): readonly Candidate[] {
  const [head] = holders;
  if (head === undefined) return candidates.filter(({ isOldest }) => isOldest);
  return holders.every(({ isPending }) => isPending) ? candidates.filter(({ id }) => id === head.id) : [];
}

/** A place is freed by the step of another task, a permit by time alone. */
function untilNextMs({ isPaused, permits, permitMs }: SandboxFlow, begun: number): number | null {
  if (isPaused || permits === null || permits > begun) return null;
  return permitMs === null ? 0 : Math.max(1, Math.ceil(permitMs));
}
