import { fromEnvironment } from "./environment.ts";
import { BellhopError } from "./errors.ts";
import { checkOptions } from "./options.ts";

export interface ClientOptions {
  /** The server's URL; by default `BELLHOP_URL`, or `http://127.0.0.1:8787`. */
  readonly url?: string | undefined;
  /**
   * An API key, or a session's or application's token; by default `BELLHOP_API_KEY`. A function is called before each
   * request. `null` if none is needed, or `fetch` adds the credential itself, as a browser does with a cookie.
   */
  readonly apiKey?: ApiKey | undefined;
  /** For each try of a request, from connecting to the last byte of the answer; 30 s by default. */
  readonly timeoutMs?: number | undefined;
  /** Retries of a request that is safe to repeat; 3 by default. */
  readonly maxRetries?: number | undefined;
  /** Delay before the first retry; doubles each time, up to 8 s; 250 ms by default. `Retry-After` takes precedence. */
  readonly retryDelayMs?: number | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

type ApiKey = string | null | (() => string | Promise<string>);

/** Validated options with defaults. */
export interface ClientSettings {
  readonly url: string;
  readonly apiKey: ApiKey;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly retryDelayMs: number;
  readonly fetch: typeof globalThis.fetch;
}

const KNOWN = ["url", "apiKey", "timeoutMs", "maxRetries", "retryDelayMs", "fetch"];

export function readClientOptions(options: ClientOptions): ClientSettings {
  checkOptions(options, KNOWN);
  const { timeoutMs = 30_000, maxRetries = 3, retryDelayMs = 250 } = options;
  return {
    url: readUrl(options.url),
    apiKey: readApiKey(options.apiKey),
    timeoutMs,
    maxRetries,
    retryDelayMs,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
  };
}

function readUrl(option: string | undefined): string {
  const [given, name] =
    option === undefined ? [fromEnvironment("BELLHOP_URL"), "BELLHOP_URL"] : [option, "url"];
  if (given === undefined) return "http://127.0.0.1:8787";
  const text = typeof given === "string" ? given.trim() : "";
  const url = parseUrl(text);
  if (url === null && !text.includes("://") && parseUrl(`https://${text}`) !== null) {
    const scheme = /^(localhost|127\.|\[::1\])/.test(text) ? "http" : "https";
    throw new BellhopError(`${name} has no scheme: write ${scheme}:// before its host`);
  }
  if (url === null || url.search !== "" || url.hash !== "") {
    throw new BellhopError(
      `${name} must be the address of a Bellhop server, as in https://bellhop.example.com`,
    );
  }
  // fetch would refuse it with the password in the text of its error.
  if (url.username !== "" || url.password !== "") {
    throw new BellhopError(`${name} must hold no user name and password`);
  }
  return text.replace(/\/+$/, "");
}

/** Null if it is not an HTTP URL. */
function parseUrl(text: string): URL | null {
  try {
    const url = new URL(text);
    return /^https?:$/.test(url.protocol) ? url : null;
  } catch {
    return null;
  }
}

function readApiKey(option: ApiKey | undefined): ApiKey {
  if (option === null || typeof option === "function") return option;
  const given = option === undefined ? fromEnvironment("BELLHOP_API_KEY") : option;
  if (given === undefined) {
    throw new BellhopError("An API key is missing: set BELLHOP_API_KEY, or give apiKey (null to send none)");
  }
  return checkApiKey(given, option === undefined ? "BELLHOP_API_KEY" : "apiKey");
}

/** A key without surrounding spaces. No error shows it. */
export function checkApiKey(given: unknown, name: string): string {
  const key = typeof given === "string" ? given.trim() : "";
  if (key === "") throw new BellhopError(`${name} must be an API key, and is empty`);
  if (!/^[\x21-\x7e]+$/.test(key)) throw new BellhopError(`${name} has characters that no API key has`);
  return key;
}
