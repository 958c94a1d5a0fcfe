export const BACKOFFS = ["fixed", "exponential"] as const;
export type Backoff = (typeof BACKOFFS)[number];

/** The maximum of a target's Retry-After, and of Bellhop's own delays unless the queue or task says otherwise. */
export const LONGEST_WAIT_MS = 3_600_000;
export const RETRY_MAX_DELAY_SECONDS = LONGEST_WAIT_MS / 1000;

/** Spreads the retries of tasks that failed together. */
const JITTER = 0.1;

/**
 * The delay after the n-th failed attempt. `random` is in [0, 1). Jitter only adds: a retry never comes earlier than
 * promised.
 */
export function backoffMs(
  backoff: Backoff,
  failures: number,
  retryDelaySeconds: number,
  random: number,
  retryMaxDelaySeconds: number | null = null,
): number {
  const baseMs = retryDelaySeconds * 1000;
  const longestMs = (retryMaxDelaySeconds ?? RETRY_MAX_DELAY_SECONDS) * 1000;
  const waitMs = backoff === "fixed" ? baseMs : baseMs * 2 ** (failures - 1);
  return Math.round(Math.min(waitMs, longestMs) * (1 + JITTER * random));
}

/** A target's `Retry-After` in ms from `now`: whole seconds or an HTTP date; anything else is ignored. */
export function retryAfterMs(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : httpDateMs(text) - now.getTime();
  if (Number.isNaN(waitMs) || waitMs <= 0) return null;
  return Math.min(waitMs, LONGEST_WAIT_MS);
}

/** All three forms of an HTTP date begin with a day; Date.parse alone finds a date in almost anything. */
function httpDateMs(text: string): number {
  return /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d\d:\d\d:\d\d/.test(text) ? Date.parse(text) : Number.NaN;
}
