import { invalid } from "./complaint.ts";
import type { FailureCode, Outcome } from "./outcome.ts";

/** When the circuit breaker of a queue opens for a host, and for how long. */
export interface BreakerSettings {
  /** Failed attempts within `within` seconds, at least. */
  readonly failures: number;
  /** They are at least this part of all attempts. */
  readonly ratio: number;
  readonly within: number;
  /** Seconds until the first probe; doubles with every probe that fails. */
  readonly cooldown: number;
}

export const BREAKER_DEFAULTS: BreakerSettings = { failures: 20, ratio: 0.9, within: 60, cooldown: 30 };

export const BREAKER_RANGES = {
  failures: { minimum: 1, maximum: 10_000 },
  ratio: { minimum: 0.1, maximum: 1 },
  within: { minimum: 1, maximum: 3600 },
  cooldown: { minimum: 1, maximum: 600 },
} as const;

const LONGEST_COOLDOWN_SECONDS = 600;

/** Hosts that breakers of one team hold back at a time. A further host is called as without a breaker. */
export const MOST_HELD_HOSTS = 100;

/** The field as callers write it: `true` is the defaults, and a figure that is missing has its default. */
export function readBreaker(given: boolean | Partial<BreakerSettings>): BreakerSettings | null {
  if (given === false) return null;
  return given === true ? BREAKER_DEFAULTS : { ...BREAKER_DEFAULTS, ...given };
}

/** A name has at most 253 characters; then a port. */
const LONGEST_HOST = 300;

/**
 * The host of a URL as written, in lower case (ASCII), with the port where it has one; null for no name that could be
 * called. The statements find it by the same rule: see `HOST_AND_PORT` in store/tasks/held-hosts.ts.
 */
export function breakerHost(url: string): string | null {
  const host = /^https?:\/\/[/\\]*([^/\\?#]*)/i.exec(url)?.[1] ?? "";
  return host === "" || host.length > LONGEST_HOST ? null : lower(host);
}

function lower(host: string): string {
  return host.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** A host as in a path of the API. */
export function readBreakerHost(text: string): string {
  const host = lower(text);
  if (host === "" || host.length > LONGEST_HOST || /[/\\?#\s\0]/.test(host))
    throw invalid([
      { field: "host", error: "host must be a host name, with its port where the URL has one" },
    ]);
  return host;
}

/** Failures that say something about the target. */
const COUNTED: readonly FailureCode[] = [
  "dns_failed",
  "connect_failed",
  "connect_timeout",
  "connection_reset",
  "tls_error",
  "timeout",
  "invalid_response",
];

/** The state of the target, as an attempt shows it; null if the call never left or was aborted. */
export function targetState(outcome: Outcome): "down" | "up" | null {
  if (outcome.kind === "failure") return COUNTED.includes(outcome.code) ? "down" : null;
  return outcome.statusCode >= 500 ? "down" : "up";
}

/** What an attempt says about the host that it called. */
export interface HostReport {
  readonly host: string;
  readonly isUp: boolean;
  /** The breaker must know before the task goes on: it is counted in the transaction that settles the attempt. */
  readonly isUrgent: boolean;
}

/**
 * `open`: no call begins until its time, then one task at a time has a pass and is the probe. `closing`: the target answers
 * again, and more and more of the tasks that waited have a pass. `draining`: all of them may go; the host is no longer held.
 */
export type BreakerPhase = "open" | "closing" | "draining";

export interface BreakerRow {
  readonly phase: BreakerPhase;
  readonly cooldown: number;
  /** Tasks that may have a pass at a time. */
  readonly allowed: number;
}

/** Attempts to a host, and those of tasks that had a pass. */
export interface Attempted {
  readonly failed: number;
  readonly total: number;
  readonly passesUp: number;
  readonly passesDown: number;
}

export type BreakerChange = BreakerRow | null;

/** The next state after some attempts have ended; null if it stays. */
export function judgeBreaker(
  settings: BreakerSettings,
  current: BreakerRow | null,
  { failed, total, passesUp, passesDown }: Attempted,
  concurrency: number,
): BreakerChange {
  if (current?.phase === "open") {
    // Calls that began before the breaker opened say nothing new.
    if (passesUp > 0) return ramp(1 + passesUp, settings, concurrency);
    if (passesDown === 0) return null;
    return { phase: "open", cooldown: Math.min(current.cooldown * 2, LONGEST_COOLDOWN_SECONDS), allowed: 1 };
  }
  if (failed >= settings.failures && failed >= settings.ratio * total)
    return { phase: "open", cooldown: settings.cooldown, allowed: 1 };
  if (current?.phase !== "closing" || passesUp === 0) return null;
  return ramp(current.allowed + passesUp, settings, concurrency);
}

/** Each answer lets one more task go, so their number doubles with every round: 1, 2, 4 … */
function ramp(allowed: number, { cooldown }: BreakerSettings, concurrency: number): BreakerRow {
  return allowed >= concurrency
    ? { phase: "draining", cooldown, allowed }
    : { phase: "closing", cooldown, allowed };
}
