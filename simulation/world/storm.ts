import type { Random } from "../../chaos/rig/random.ts";
import { PURPOSES, type Purpose } from "./purposes.ts";

/** What becomes of one statement. */
export interface Fate {
  /** When it reaches the database and is carried out; null: never. */
  readonly arrivesMs: number | null;
  /** How long its answer takes from there; null: for ever. */
  readonly answersMs: number | null;
  /** The connection breaks instead of an answer. */
  readonly isBroken: boolean;
}

/**
 * What can go wrong with a statement: before its commit, after it, or with its answer. With `pause-with-answer` the process
 * is frozen past its lease while it is being given a task.
 */
export const STATEMENT_FAULTS = [
  "pause-with-answer",
  "refused",
  "broken-after",
  "hole",
  "deaf",
  "late-answer",
  "late-arrival",
  "kill",
  "pause",
] as const;
export type StatementFault = (typeof STATEMENT_FAULTS)[number];

export type NodeFault =
  | "kill"
  | "kill-all"
  | "pause"
  | "pause-past-lease"
  | "roll"
  | "listener"
  | "stall"
  | "stall-past-lease";

/** How rough one run is. Each draws a few kinds of faults: with all of them at once each would hide the others. */
export interface Weather {
  readonly rates: Readonly<Partial<Record<StatementFault, number>>>;
  /** Whose connections they hit; null: all. */
  readonly purpose: Purpose | null;
  readonly nodeFaults: Readonly<Partial<Record<NodeFault, number>>>;
  /** Between two faults of nodes, on average. */
  readonly everyMs: number;
  readonly latencyMs: number;
  /** How far away the database is, there and back, also when nothing else is wrong. */
  readonly roundTripMs: number;
}

export const NODE_FAULTS: readonly NodeFault[] = [
  "kill",
  "kill-all",
  "pause",
  "pause-past-lease",
  "roll",
  "listener",
  "stall",
  "stall-past-lease",
];

const MOST: Readonly<Partial<Record<StatementFault, number>>> = {
  kill: 0.01,
  pause: 0.01,
  "pause-with-answer": 0.3,
};

/** On the same machine, in the same region, or further away. */
const ROUND_TRIPS_MS = [0, 4, 30];

/** Drawn apart: with a database next to it a run is the same as before. */
export function drawRoundTrip(random: Random): number {
  return random.pick(ROUND_TRIPS_MS);
}

export function drawWeather(random: Random, roundTripMs: number): Weather {
  const rates: Partial<Record<StatementFault, number>> = {};
  for (const fault of STATEMENT_FAULTS) {
    if (random.chance(0.35)) rates[fault] = random.next() * (MOST[fault] ?? 0.08);
  }
  const nodeFaults: Partial<Record<NodeFault, number>> = {};
  for (const fault of NODE_FAULTS) if (random.chance(0.4)) nodeFaults[fault] = 1;
  return {
    rates,
    purpose: random.chance(0.4) ? random.pick(PURPOSES) : null,
    nodeFaults,
    everyMs: random.pick([1_500, 3_000, 6_000]),
    latencyMs: random.weighted({ fast: 7, slow: 2, crawling: 1 }) === "fast" ? 1 : random.pick([20, 150]),
    roundTripMs,
  };
}

/** Nothing is wrong: a moment there, a moment back. */
export function goodFate(random: Random, latencyMs: number, roundTripMs: number): Fate {
  const way = () => 0.1 + random.next() * 2 * latencyMs + roundTripMs / 2;
  return { arrivesMs: way(), answersMs: way(), isBroken: false };
}

/** Lateness that matters: about a deadline, about what the reconciler waits, or past a lease. */
function lateness(random: Random): number {
  return random.pick([200, 1_000, 2_000, 5_000, 8_000, 18_000]) * (0.5 + random.next());
}

export function badFate(random: Random, fault: StatementFault, good: Fate): Fate {
  if (fault === "refused") return { ...good, arrivesMs: null, isBroken: true };
  if (fault === "broken-after") return { ...good, isBroken: true };
  if (fault === "hole") return { ...good, arrivesMs: null, answersMs: null };
  if (fault === "deaf") return { ...good, answersMs: null };
  if (fault === "late-answer") return { ...good, answersMs: lateness(random) };
  if (fault === "late-arrival") return { ...good, arrivesMs: lateness(random) };
  return good;
}
