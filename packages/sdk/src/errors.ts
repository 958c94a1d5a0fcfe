/** The rate limit state of an answer; see the page on rate limits. */
export interface RateLimit {
  /** Requests a minute. */
  readonly limit: number;
  readonly remaining: number;
  /** When the oldest counted request is a minute old. */
  readonly resetAt: Date;
}

/** The base of all errors of the SDK, except the reason of an `AbortSignal`, which is thrown unchanged. */
export class BellhopError extends Error {
  override name = "BellhopError";
}

/** The server could not be reached, or the connection broke. It is unknown whether the server acted on the request. */
export class ConnectionError extends BellhopError {
  override name = "ConnectionError";
}

/** No complete answer in time. It is unknown whether the server acted on the request. */
export class TimeoutError extends BellhopError {
  override name = "TimeoutError";
}

/** The signature or the signed content is not Bellhop's. */
export class SignatureError extends BellhopError {
  override name = "SignatureError";
}

/** The server refused. */
export class ApiError extends BellhopError {
  override name = "ApiError";
  readonly status: number;
  /** From the list in docs/errors.md, which may grow; `unknown` if another program answered. */
  readonly code: string;
  /** The id of the request in the server's log. */
  readonly requestId: string | null;
  /** Each invalid field, if there are several. */
  readonly details: readonly { readonly field: string; readonly error: string }[];
  readonly retryAfterMs: number | null;
  readonly rateLimit: RateLimit | null;

  constructor(status: number, headers: Headers, body: unknown) {
    const { error, error_description, code, details } = (isObject(body) ? body : {}) as Record<
      string,
      unknown
    >;
    // Endpoints of OAuth have their code in `error`.
    super(text(error_description) ?? text(error) ?? `The server answered ${status}`);
    this.status = status;
    this.code = text(code) ?? (text(error_description) ? text(error) : null) ?? "unknown";
    this.requestId = headers.get("x-request-id");
    this.details = Array.isArray(details) ? details : [];
    this.retryAfterMs = secondsOf(headers, "retry-after") ?? untilDate(headers.get("retry-after"));
    this.rateLimit = readRateLimit(headers);
  }
}

export function readRateLimit(headers: Headers): RateLimit | null {
  const limit = headers.get("x-ratelimit-limit");
  const resetAtMs = secondsOf(headers, "x-ratelimit-reset");
  if (limit === null || resetAtMs === null) return null;
  return {
    limit: Number(limit),
    remaining: Number(headers.get("x-ratelimit-remaining")),
    resetAt: new Date(resetAtMs),
  };
}

/** A header that has seconds, in milliseconds. */
function secondsOf(headers: Headers, name: string): number | null {
  const value = headers.get(name);
  return value !== null && /^\d+$/.test(value) ? Number(value) * 1000 : null;
}

/** Proxies write `Retry-After` as a date too. */
function untilDate(value: string | null): number | null {
  const at = value === null ? Number.NaN : Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
