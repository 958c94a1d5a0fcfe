import { availableParallelism } from "node:os";
import { machineCpuSeconds, treeCpuSeconds } from "../../tools/process-usage.ts";
import type { Span } from "../checker/history.ts";
import { now } from "./clock.ts";

/** The system counts its processors by ticks, and a process's time exactly: over half a second they differ by up to a quarter. */
const BEAT_MS = 2_000;
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
  const ours = after.ours - before.ours;
  // Processes of this run were killed with their parent, which loses their time: the work of others is unknown.
  if (ours < 0) return false;
  const others = after.busy - before.busy - ours;
  return others > ((after.at - before.at) / 1000) * processors * OTHERS_SHARE;
}

function look(): Look {
  return { at: now(), busy: machineCpuSeconds(), ours: treeCpuSeconds(process.pid) };
}
