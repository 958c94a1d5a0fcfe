import type { Message } from "../../domain/message.ts";
import type { CallResponse, Outcome } from "../../domain/outcome.ts";
import type { Trial, Verdict } from "../../domain/verdict.ts";
import { defaultRetryDelayMs, LONGEST_RETRY_MS, retryDelayMs } from "./domain-retry-delay.ts";

const NOT_RETRYABLE = 489;

/** The headers in which a target names a delay, in order of preference. */
const DELAY_HEADERS = [
  "retry-after",
  "x-ratelimit-reset",
  "x-ratelimit-reset-requests",
  "x-ratelimit-reset-tokens",
] as const;

/** The verdict about a message's attempt: the usual one, with QStash's rules of ending and waiting. */
export function judgeMessage(
  trial: Pick<Trial, "failures">,
  { retryDelay }: Message,
  outcome: Outcome,
  usual: Verdict,
  now: Date,
): Verdict {
  if (usual.kind !== "retry") return usual;
  if (outcome.kind === "response" && isRefused(outcome)) {
    const { statusCode, headers, body, durationMs: duration } = outcome;
    const result = { statusCode, headers, body, duration };
    return { kind: "failed", reason: "not_retryable", error: usual.error, result };
  }
  const askedMs = outcome.kind === "response" ? askedDelayMs(outcome.headers, now) : null;
  if (askedMs !== null) return { kind: "retry", waitMs: askedMs, error: usual.error, isAsked: true };
  const waitMs =
    retryDelay === undefined
      ? defaultRetryDelayMs(trial.failures + 1)
      : retryDelayMs(retryDelay, trial.failures);
  return { kind: "retry", waitMs, error: usual.error };
}

function isRefused({ statusCode, headers }: CallResponse): boolean {
  return (
    statusCode === NOT_RETRYABLE && headers["upstash-nonretryable-error"]?.trim().toLowerCase() === "true"
  );
}

/** Null if no header names a delay of at most a day. */
export function askedDelayMs(headers: Readonly<Record<string, string>>, now: Date): number | null {
  for (const name of DELAY_HEADERS) {
    const ms = delayMs(headers[name]?.trim() ?? "", now);
    if (ms !== null && ms > 0 && ms <= LONGEST_RETRY_MS) return Math.ceil(ms);
  }
  return null;
}

const UNITS_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
const PARTS = /^(?:\d+(?:\.\d+)?(?:ms|d|h|m|s))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|d|h|m|s)/g;
/** All three forms of an HTTP date begin with a day; Date.parse alone finds a date in almost anything. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d\d:\d\d:\d\d|^\d{4}-\d\d-\d\dT/;

/** Seconds, a date, or a duration such as `6m5s`. */
function delayMs(text: string, now: Date): number | null {
  if (text === "" || text.length > 64) return null;
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  if (PARTS.test(text)) {
    let ms = 0;
    for (const [, figure, unit = ""] of text.matchAll(PART)) ms += Number(figure) * (UNITS_MS[unit] ?? 0);
    return ms;
  }
  const at = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : at - now.getTime();
}
