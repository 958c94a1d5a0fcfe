import type { Latency } from "../checker/history.ts";
import { now } from "./clock.ts";
import type { Line } from "./line.ts";
import type { Random } from "./random.ts";

/** A database on the same machine, in the same building, in another part of the country. */
export const LATENCIES_MS = [0, 4, 30] as const;
/** So long one node keeps one latency. */
const KEPT_MS = { from: 4_000, to: 20_000 } as const;

/** Gives each node a latency to the database, drawn again from time to time; or a fixed one, which stays. */
export function startLatencies(
  lines: readonly Line[],
  random: Random,
  fixedMs: number | null,
): { readonly latencies: readonly Latency[]; stop(): void } {
  const latencies: Latency[] = [];
  const timers = new Map<Line, NodeJS.Timeout>();

  function set(line: Line, ms: number): void {
    line.setLatency(ms);
    latencies.push({ node: lines.indexOf(line) + 1, at: now(), ms });
  }

  function draw(line: Line): void {
    set(line, random.pick(LATENCIES_MS));
    timers.set(line, setTimeout(draw, random.between(KEPT_MS.from, KEPT_MS.to), line));
  }

  for (const line of lines) {
    if (fixedMs === null) draw(line);
    else set(line, fixedMs);
  }
  return {
    latencies,
    stop() {
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
