import { type ClientSettings, checkApiKey } from "./client-options.ts";
import {
  ApiError,
  BellhopError,
  ConnectionError,
  type RateLimit,
  readRateLimit,
  TimeoutError,
} from "./errors.ts";
import { checkOptions, type RequestOptions } from "./options.ts";

export interface Outgoing {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly credential: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Whether the request is safe to repeat. */
  readonly repeatable: boolean;
}

export interface Answered {
  readonly headers: Headers;
  readonly json: unknown;
}

export interface Transport {
  readonly url: string;
  /** From the last answer; null if the team has no limit. */
  readonly rateLimit: RateLimit | null;
  send(outgoing: Outgoing, options?: RequestOptions): Promise<Answered>;
  /** A streaming answer. It ends after this long without data, and with the signal. */
  open(
    path: string,
    headers: Readonly<Record<string, string>>,
    options: { readonly signal: AbortSignal | undefined; readonly silenceMs: number },
  ): Promise<AsyncGenerator<string>>;
}

const LONGEST_BACKOFF_MS = 8_000;
/** A longer pause is left to the caller, who sees `retryAfterMs`. */
const LONGEST_PAUSE_MS = 60_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Refused before it began, so it is safe to repeat. */
const NOT_BEGUN = new Set(["overloaded", "crowded", "stopping"]);

export function createTransport(settings: ClientSettings): Transport {
  const { url, fetch: call } = settings;
  let rateLimit: RateLimit | null = null;

  async function authorization(): Promise<Record<string, string>> {
    const { apiKey } = settings;
    if (apiKey === null) return {};
    const key = typeof apiKey === "string" ? apiKey : checkApiKey(await apiKey(), "apiKey()");
    return { authorization: `Bearer ${key}` };
  }

  async function sendOnce(outgoing: Outgoing, timeoutMs: number, outer?: AbortSignal): Promise<Answered> {
    const credential = outgoing.credential ? await authorization() : {};
    const ended = endingSignal(timeoutMs, outer);
    try {
      const response = await call(url + outgoing.path, {
        method: outgoing.method,
        headers: { accept: "application/json", ...outgoing.headers, ...credential },
        body: outgoing.body,
        signal: ended.signal,
        // A credential must not follow a redirect.
        redirect: "manual",
      });
      const text = await response.text();
      rateLimit = readRateLimit(response.headers) ?? (response.ok ? null : rateLimit);
      if (!response.ok) throw new ApiError(response.status, response.headers, parse(text));
      const json = parse(text);
      if (json === undefined) throw new BellhopError(`${url} answered something that is not JSON`);
      return { headers: response.headers, json };
    } catch (error) {
      if (error instanceof BellhopError) throw error;
      outer?.throwIfAborted();
      if (ended.signal.aborted) throw new TimeoutError(`No answer from ${url} within ${timeoutMs} ms`);
      throw new ConnectionError(`${url} cannot be reached`, { cause: error });
    } finally {
      ended.forget();
    }
  }

  /** Every piece that comes gives the next one its time. */
  async function* readAll(body: ReadableStream<Uint8Array>, ended: Ending): AsyncGenerator<string> {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        ended.restart();
        yield decoder.decode(value, { stream: true });
      }
    } catch (error) {
      throw new ConnectionError(`The connection to ${url} is lost`, { cause: error });
    } finally {
      ended.forget();
      await reader.cancel().catch(() => {});
    }
  }

  return {
    url,
    async open(path, headers, { signal, silenceMs }) {
      const credential = await authorization();
      const ended = endingSignal(silenceMs, signal);
      try {
        const response = await call(url + path, {
          headers: { accept: "text/event-stream", ...headers, ...credential },
          signal: ended.signal,
          redirect: "manual",
        });
        if (!response.ok) throw new ApiError(response.status, response.headers, parse(await response.text()));
        if (response.body === null) throw new ConnectionError(`${url} answered nothing`);
        return readAll(response.body, ended);
      } catch (error) {
        ended.forget();
        if (error instanceof BellhopError) throw error;
        throw new ConnectionError(`${url} cannot be reached`, { cause: error });
      }
    },
    get rateLimit() {
      return rateLimit;
    },
    async send(outgoing, options = {}) {
      checkOptions(options);
      const { signal, timeoutMs = settings.timeoutMs, maxRetries = settings.maxRetries } = options;
      for (let retries = 0; ; retries += 1) {
        signal?.throwIfAborted();
        try {
          return await sendOnce(outgoing, timeoutMs, signal);
        } catch (error) {
          if (retries >= maxRetries || !mayRepeat(error, outgoing.repeatable)) throw error;
          const asked = error instanceof ApiError ? error.retryAfterMs : null;
          if (asked !== null && asked > LONGEST_PAUSE_MS) throw error;
          await sleep(asked ?? backoffMs(retries, settings.retryDelayMs), signal);
        }
      }
    },
  };
}

function mayRepeat(error: unknown, repeatable: boolean): boolean {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return repeatable;
  if (!(error instanceof ApiError)) return false;
  if (error.status === 429 || NOT_BEGUN.has(error.code)) return true;
  return repeatable && [408, 502, 503, 504].includes(error.status) && error.code !== "vault_off";
}

/** Between half and all of it, so that clients that failed together do not retry together. */
function backoffMs(retries: number, baseMs: number): number {
  return Math.min(baseMs * 2 ** retries, LONGEST_BACKOFF_MS) * (0.5 + Math.random() / 2);
}

export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** Aborted by the caller or by time. Node 18 has no `AbortSignal.any`. */
function endingSignal(timeoutMs: number, outer?: AbortSignal) {
  const controller = new AbortController();
  const abort = () => controller.abort(outer?.reason);
  // A timer that is asked for more goes off at once.
  const ms = Math.min(timeoutMs, LONGEST_TIMER_MS);
  let timer = setTimeout(() => controller.abort(), ms);
  if (outer?.aborted) abort();
  outer?.addEventListener("abort", abort, { once: true });
  return {
    signal: controller.signal,
    restart() {
      clearTimeout(timer);
      timer = setTimeout(() => controller.abort(), ms);
    },
    forget() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", abort);
    },
  };
}

type Ending = ReturnType<typeof endingSignal>;

/** Undefined where it is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
