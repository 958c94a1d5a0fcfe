import type { Limits } from "../domain/limits.ts";
import type { Time } from "../domain/time.ts";
import type { Outgoing, RecordedCall } from "./outgoing.ts";

/** One second's worth of calls may start at once; after that they are spaced evenly. */
const BURST_MS = 1_000;
/** Limit of remembered hosts, more than are called within a second. */
const MOST_HOSTS = 10_000;

/**
 * Delays a team's calls, polls and notifications to one host according to the plan's rate, so that no team can use
 * Bellhop to flood a third party. A call waits in its slot, so the number of waiting calls is limited by the team's
 * calls in flight.
 */
export function paceByHost(outgoing: Outgoing, limitsOf: (teamId: number) => Limits, time: Time): Outgoing {
  /** When the next call would start at an even rate, by team and host. */
  const nextAtMs = new Map<string, number>();
  /** What lets each waiting call go on, by the signal that tears it down. */
  const waitingBySignal = new WeakMap<AbortSignal, Set<() => void>>();

  function waitMs(key: string, perSecond: number): number {
    const nowMs = time.monotonicMs();
    if (nextAtMs.size >= MOST_HOSTS) forgetPast(nowMs);
    const atMs = Math.max(nextAtMs.get(key) ?? 0, nowMs);
    nextAtMs.set(key, atMs + 1000 / perSecond);
    return atMs - nowMs - BURST_MS;
  }

  function forgetPast(nowMs: number): void {
    for (const [key, atMs] of nextAtMs) if (atMs <= nowMs) nextAtMs.delete(key);
  }

  /** A call that is aborted while it waits continues at once and ends as aborted. */
  function turn(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    const waiting = waitingOn(signal);
    return new Promise((resolve) => {
      const timer = time.setTimer(go, ms);
      waiting.add(go);
      function go(): void {
        timer.cancel();
        waiting.delete(go);
        resolve();
      }
    });
  }

  /** One listener per signal, however many calls share it: Node warns of a leak at the eleventh. */
  function waitingOn(signal: AbortSignal): Set<() => void> {
    const known = waitingBySignal.get(signal);
    if (known !== undefined) return known;
    const waiting = new Set<() => void>();
    waitingBySignal.set(signal, waiting);
    const letAllGo = () => {
      for (const go of waiting) go();
    };
    signal.addEventListener("abort", letAllGo, { once: true });
    return waiting;
  }

  return {
    send(recorded: RecordedCall) {
      const perSecond = limitsOf(recorded.teamId).callsPerSecondToHost;
      if (perSecond === null) return outgoing.send(recorded);
      const ms = waitMs(`${recorded.teamId} ${hostOf(recorded.call.url)}`, perSecond);
      if (ms <= 0) return outgoing.send(recorded);
      return turn(ms, recorded.signal).then(() => outgoing.send(recorded));
    },
  };
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}
