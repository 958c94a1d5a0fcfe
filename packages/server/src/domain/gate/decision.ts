import { type Gate, type InLine, isPaused } from "./gate.ts";

/*
 * May this task start now? The claims answer in SQL, all others ask here. `test/gates` holds the two against each other.
 */

export type HeldReason =
  | "queue_paused"
  | "queue_full"
  | "queue_rate"
  | "flow_paused"
  | "flow_full"
  | "flow_rate"
  | "breaker_open"
  | "blocked_by"
  | "behind";

/** A gate holds a task back. */
export interface Held {
  readonly gate: Gate;
  readonly reason: HeldReason;
  /** When that ends; null if unknown. */
  readonly until: Date | null;
  /** The other task that the task waits for in the line, if that is known. */
  readonly by: InLine | null;
}

export type Decision = { readonly starts: true } | ({ readonly starts: false } & Held);

/** A due task that waits at its gates. */
export interface Candidate {
  readonly id: string;
  readonly priority: number;
  readonly dueMs: number;
  readonly gates: readonly Gate[];
}

type Asking = Pick<Candidate, "id">;

/** Whether a due task may start: no gate holds it back. */
export function decide(gates: readonly Gate[], task: Asking, now: Date): Decision {
  const [held] = whyHeld(gates, task, now);
  return held === undefined ? { starts: true } : { starts: false, ...held };
}

/** Everything that holds a due task back. */
export function whyHeld(gates: readonly Gate[], task: Asking, now: Date): Held[] {
  return gates.flatMap((gate) => heldAt(gate, task, now));
}

/**
 * The candidates that start now, in order: the highest priority first, then by due time and id. Each takes what it needs from
 * all of its gates or from none, and those that no gate holds go past those that one holds.
 */
export function choose<Each extends Candidate>(candidates: readonly Each[], now: Date): Each[] {
  const chosen: Each[] = [];
  const changed = new Map<Gate, Gate>();
  for (const candidate of inStartOrder(candidates)) {
    const gates = candidate.gates.map((gate) => changed.get(gate) ?? gate);
    if (!decide(gates, candidate, now).starts) continue;
    chosen.push(candidate);
    for (const gate of candidate.gates) changed.set(gate, withStarted(changed.get(gate) ?? gate, candidate));
  }
  return chosen;
}

export function inStartOrder<Each extends Candidate>(candidates: readonly Each[]): Each[] {
  return [...candidates].sort(
    (one, other) => other.priority - one.priority || one.dueMs - other.dueMs || (one.id < other.id ? -1 : 1),
  );
}

/** The gate once the task has started. */
function withStarted(gate: Gate, { id }: Asking): Gate {
  const { places, permits, line } = gate;
  const others = line.holders.filter((holder) => holder.id !== id);
  return {
    ...gate,
    places: hasPlace(gate, id) ? places : { ...places, taken: places.taken + 1 },
    permits: { ...permits, taken: permits.taken + 1 },
    line: { ...line, holders: [{ id, status: "active" }, ...others] },
  };
}

function heldAt(gate: Gate, { id }: Asking, now: Date): Held[] {
  const { kind, limits, pause, places, permits } = gate;
  const { paused, full, rate } = REASONS[kind];
  const held: Held[] = [];
  const add = (reason: HeldReason, until: Date | null = null, by: InLine | null = null) =>
    held.push({ gate, reason, until, by });
  if (isPaused(gate, now)) add(paused, pause?.until);
  if (limits.concurrency !== null && places.taken >= limits.concurrency && !hasPlace(gate, id))
    add(full, places.nextAt);
  if (limits.rate !== null && permits.taken >= limits.rate) add(rate, permits.nextAt);
  const line = limits.ordered ? heldInLine(gate, id) : null;
  if (line !== null) add(line.reason, null, line.by);
  return held;
}

const REASONS = {
  queue: { paused: "queue_paused", full: "queue_full", rate: "queue_rate" },
  flow: { paused: "flow_paused", full: "flow_full", rate: "flow_rate" },
  host: { paused: "breaker_open", full: "breaker_open", rate: "breaker_open" },
} as const satisfies Record<Gate["kind"], Record<"paused" | "full" | "rate", HeldReason>>;

/** It kept the place of an earlier attempt: it needs none, even if the gate is full. */
function hasPlace({ limits, places }: Gate, id: string): boolean {
  return limits.hold === "task" && places.keptBy.has(id);
}

/**
 * While tasks hold the line, only the oldest of them may start, once none of them is under way. The callbacks of its own messages do not
 * delay it. If no task holds the line, the oldest due task starts.
 */
function heldInLine(
  { line: { holders, first } }: Gate,
  id: string,
): { readonly reason: "blocked_by" | "behind"; readonly by: InLine | null } | null {
  const members = holders.filter(({ isElsewhere }) => isElsewhere !== true);
  const isHead = members[0]?.id === id;
  if (isHead && members.every(({ status }) => status === "pending")) return null;
  if (holders.length === 0) {
    if (first?.id === id) return null;
    return { reason: first?.flow === undefined ? "behind" : "blocked_by", by: first };
  }
  const others = (isHead ? members : holders).filter((holder) => holder.id !== id);
  const [by = null] = [...others.filter(isStuck), ...others];
  return { reason: by !== null && isStuck(by) ? "blocked_by" : "behind", by };
}

/** What waits for a task that is simply under way is behind it, not blocked by it. */
function isStuck({ status }: InLine): boolean {
  return status !== "active";
}
