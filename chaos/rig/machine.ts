import { availableParallelism } from "node:os";
import { machineCpuSeconds, treeCpuSeconds } from "../../bench/process-usage.ts";
import type { Span } from "../checker/history.ts";
import { now } from "./clock.ts";

const BEAT_MS = 500;
/** Beyond this share of all processors, work that is none of this run's makes answers late. */
const OTHERS_SHARE = 0.2;

/**
 * Notes when processes that are no part of this run took the machine. What the runner, its nodes and its database use does not
 * count: a server that keeps the processors busy is no excuse for itself.
 */
export function watchMachine(): { readonly crowded: readonly Span[]; stop(): void } {
  const crowded: Span[] = [];
  let before = look();
  const timer = setInterval(() => {
    const after = look();
    if (isCrowded(before, after, availableParallelism())) crowded.push({ from: before.at, to: after.at });
    before = after;
  }, BEAT_MS);
  return { crowded, stop: () => clearInterval(timer) };
}

/** Seconds of processor time, of all processes and of those of this run, up to an instant. */
export interface Look {
  readonly at: number;
  readonly busy: number;
  readonly ours: number;
}

export function isCrowded(before: Look, after: Look, processors: number): boolean {
  // Of a process that ended unseen by its parent nothing is known any more, as if it had never worked.
  const ours = Math.max(0, after.ours - before.ours);
  const others = after.busy - before.busy - ours;
  return others > ((after.at - before.at) / 1000) * processors * OTHERS_SHARE;
}

function look(): Look {
  return { at: now(), busy: machineCpuSeconds(), ours: treeCpuSeconds(process.pid) };
}
