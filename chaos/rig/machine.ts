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
    const others = after.busy - before.busy - Math.max(0, after.ours - before.ours);
    const seconds = ((after.at - before.at) / 1000) * availableParallelism();
    if (others > seconds * OTHERS_SHARE) crowded.push({ from: before.at, to: after.at });
    before = after;
  }, BEAT_MS);
  return { crowded, stop: () => clearInterval(timer) };
}

function look(): { readonly at: number; readonly busy: number; readonly ours: number } {
  return { at: now(), busy: machineCpuSeconds(), ours: treeCpuSeconds(process.pid) };
}
