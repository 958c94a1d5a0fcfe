import type { Call } from "../call.ts";
import type { LookedUp } from "../json/look-up.ts";
import type { PollConfig } from "./poll-config.ts";
import { fillTemplate, originOf } from "./poll-template.ts";

/** The URL to poll, and the headers of the first call to send: their values as given, `tok_…` unresolved. */
export type PollTarget =
  | {
      readonly ok: true;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** Headers withheld because the origin is not trusted. */
      readonly withheld: readonly string[];
    }
  | { readonly ok: false; readonly message: string };

export interface PollTargetRequest {
  /** `urlTemplate`, `resultUrlTemplate` or `cancelUrlTemplate`. */
  readonly template: string;
  readonly config: Pick<PollConfig, "forwardAuth" | "forwardHeaders">;
  /** The values of the first answer at the paths of the template. */
  readonly start: LookedUp;
  readonly firstCall: Pick<Call, "url" | "headers">;
  readonly catalogOrigins: readonly string[];
}

const CREDENTIALS = ["authorization", "x-api-key"];

/**
 * The danger: the URL to poll may come from a third party's answer. It must not lead our requests to plain http
 * elsewhere, and above all it must not collect a credential. So credentials go only to the origin that the caller has
 * sent them to, or to the origins in the catalog.
 */
export function pollTarget(request: PollTargetRequest): PollTarget {
  const { template, config, start, firstCall, catalogOrigins } = request;
  const filled = fillTemplate(template, start);
  if (!filled.ok) return filled;
  const origin = originOf(filled.url);
  if (origin === null) return refuse("The URL to poll is not a valid http or https URL");
  const { href, protocol, username, password } = new URL(filled.url);
  if (username !== "" || password !== "") return refuse("The URL to poll holds a user name or password");
  const isFirstOrigin = origin === originOf(firstCall.url);
  if (protocol !== "https:" && !isFirstOrigin) {
    return refuse("The URL to poll must be https, or on the origin of the first call");
  }

  const forwarded = forwardedHeaders(config, firstCall.headers);
  const isTrusted = isFirstOrigin || catalogOrigins.includes(origin);
  return isTrusted
    ? { ok: true, url: href, headers: Object.fromEntries(forwarded), withheld: [] }
    : { ok: true, url: href, headers: {}, withheld: forwarded.map(([name]) => name) };
}

/**
 * The origins in the absolute templates of a catalog entry. A caller's own configuration adds none: a caller who may
 * create tasks could otherwise send a stored credential anywhere.
 */
export function catalogOrigins(provider: string | null, config: PollConfig): readonly string[] {
  if (provider === null) return [];
  const templates = [config.urlTemplate, config.resultUrlTemplate ?? "", config.cancelUrlTemplate ?? ""];
  return [...new Set(templates.map(originOf))].filter((origin) => origin !== null);
}

function forwardedHeaders(
  { forwardAuth, forwardHeaders = [] }: PollTargetRequest["config"],
  headers: Call["headers"],
): [string, string][] {
  const wanted = new Set(forwardHeaders.map((name) => name.toLowerCase()));
  if (forwardAuth) for (const name of CREDENTIALS) wanted.add(name);
  return Object.entries(headers).filter(([name]) => wanted.has(name.toLowerCase()));
}

function refuse(message: string): PollTarget {
  return { ok: false, message };
}
