import { CALL_LIMITS, headerComplaints, METHODS, type Method } from "../../domain/call.ts";
import { echo, invalid, mustBe } from "../../domain/complaint.ts";
import { forbiddenHeader } from "../../domain/header.ts";
import type { MessageCallback, MessageFlow, Redaction } from "../../domain/message.ts";
import type { ProblemDetail } from "../../domain/problem.ts";
import { LABEL_LIMITS, tagComplaints } from "../../domain/tag-rules.ts";
import { LONGEST_DELAY_SECONDS } from "../../domain/task-request.ts";
import { NAME_PATTERN } from "./domain-destination.ts";
import { parseDuration } from "./domain-duration.ts";
import { parseFlow } from "./domain-flow.ts";
import { compileRetryDelay, ExpressionError } from "./domain-retry-delay.ts";

/** Header names in lower case; one that came several times is joined by ", ". */
export type HeaderMap = ReadonlyMap<string, string>;

export type OptionSet = "publish" | "schedule" | "retry";

/** The options of a message, from the headers of the request. */
export interface MessageOptions {
  readonly method: Method;
  readonly headers: Readonly<Record<string, string>>;
  readonly delaySeconds: number | null;
  readonly notBefore: Date | null;
  readonly retries: number | null;
  readonly retryDelay: string | null;
  readonly timeoutSeconds: number | null;
  readonly deduplicationId: string | null;
  readonly isDeduplicatedByContent: boolean;
  readonly labels: readonly string[];
  readonly redact: Redaction | null;
  readonly flow: MessageFlow | null;
  readonly callback: MessageCallback | null;
  readonly failureCallback: MessageCallback | null;
  readonly queue: string | null;
  readonly scheduleId: string | null;
  readonly cron: string | null;
}

const COMMON = new Set([
  ...["method", "delay", "timeout", "retries", "retry-delay", "label"],
  ...["flow-control-key", "flow-control-value"],
  ...["redact-fields", "callback", "failure-callback", "header-forward"],
]);
/** What another attempt can have otherwise than the message that failed. */
const OF_RETRY = new Set([
  ...["method", "delay", "not-before", "timeout", "retries", "retry-delay"],
  ...["callback", "failure-callback"],
]);
const OWN: Readonly<Record<Exclude<OptionSet, "retry">, ReadonlySet<string>>> = {
  publish: new Set(["not-before", "deduplication-id", "content-based-deduplication"]),
  schedule: new Set(["cron", "schedule-id", "queue-name"]),
};
const OF_CALLBACK = new Set(["method", "timeout", "retries", "retry-delay", "delay"]);

/** Set by us on every call, so a forwarded one would be mistaken for ours. */
const SET_BY_US =
  /^(?:bellhop-.*|upstash-(?:message-id|retried|signature|topic-name|schedule-id)|webhook-(?:id|timestamp|signature))$/;
/** Of the request to us: credentials, and what describes its own encoding. */
const NEVER_FORWARDED = new Set([
  "authorization",
  "cookie",
  "x-api-key",
  "content-encoding",
  "accept-encoding",
]);

/** Of every task. */
const MOST_RETRIES = 100;
const LONGEST_TIMEOUT_SECONDS = 3600;
const LONGEST_ID = 512;

/** Refuses what it does not know, by name: an option that is ignored would be a promise that is not kept. */
export function readOptions(headers: HeaderMap, set: OptionSet, now: Date): MessageOptions {
  const complaints: ProblemDetail[] = [];
  const complain = (field: string, rule: string) => {
    complaints.push(mustBe(field, rule));
    return null;
  };
  const option = (name: string) => headers.get(`upstash-${name}`)?.trim();

  for (const name of headers.keys()) {
    if (name.startsWith("upstash-") && !isKnown(name.slice("upstash-".length), set))
      complaints.push({
        field: echo(name),
        error: `${headerName(echo(name))} is not supported${set === "retry" ? " for a retry" : hintFor(name)}`,
      });
  }

  const seconds = (name: string, most: number, least = 0) => {
    const text = option(name);
    if (text === undefined || text === "") return null;
    const value = parseDuration(text);
    if (value !== null && value >= least && value <= most) return value;
    return complain(
      headerName(`upstash-${name}`),
      `a duration such as 50s or 1d10h30m, at most ${most} seconds`,
    );
  };
  const whole = (name: string, most: number) => {
    const text = option(name);
    if (text === undefined || text === "") return null;
    if (/^\d{1,15}$/.test(text) && Number(text) <= most) return Number(text);
    return complain(headerName(`upstash-${name}`), `a whole number from 0 to ${most}`);
  };
  const method = (name: string): Method | null => {
    const text = (option(name) ?? "POST").toUpperCase();
    return (
      METHODS.find((each) => each === text) ??
      complain(headerName(`upstash-${name}`), `one of ${METHODS.join(", ")}`)
    );
  };
  const expression = (name: string) => {
    const text = option(name);
    if (text === undefined || text === "") return null;
    try {
      compileRetryDelay(text);
      return text;
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      const field = headerName(`upstash-${name}`);
      complaints.push({ field, error: `${field} ${error.message}` });
      return null;
    }
  };
  const text = (name: string) => {
    const value = option(name);
    if (value === undefined) return null;
    const isShort = value.length > 0 && value.length <= LONGEST_ID;
    return isShort ? value : complain(headerName(`upstash-${name}`), `1 to ${LONGEST_ID} characters`);
  };
  const named = (name: string) => {
    const value = option(name);
    if (value === undefined) return null;
    return NAME_PATTERN.test(value)
      ? value
      : complain(headerName(`upstash-${name}`), "1 to 64 letters, digits, dots, underscores or hyphens");
  };
  const callback = (name: "callback" | "failure-callback"): MessageCallback | null => {
    const url = option(name);
    if (url === undefined || url === "") return null;
    const forwarded = forwardedBy(headers, `upstash-${name}-forward-`);
    complaints.push(...callHeaderComplaints(forwarded));
    const [timeoutSeconds, retries] = [
      seconds(`${name}-timeout`, LONGEST_TIMEOUT_SECONDS, 1),
      whole(`${name}-retries`, MOST_RETRIES),
    ];
    const [retryDelay, delaySeconds] = [
      expression(`${name}-retry-delay`),
      seconds(`${name}-delay`, LONGEST_DELAY_SECONDS),
    ];
    return {
      url,
      method: method(`${name}-method`) ?? "POST",
      headers: forwarded,
      ...(timeoutSeconds !== null && { timeoutSeconds }),
      ...(retries !== null && { retries }),
      ...(retryDelay !== null && { retryDelay }),
      ...(delaySeconds !== null && { delaySeconds }),
    };
  };

  const contentType = headers.get("content-type");
  const forwarded: Record<string, string> = {
    ...(option("header-forward")?.toLowerCase() === "true" && othersIn(headers)),
    ...(contentType !== undefined && contentType !== "" && { "content-type": contentType }),
    ...forwardedBy(headers, "upstash-forward-"),
  };
  complaints.push(...callHeaderComplaints(forwarded));
  const labels = (option("label") ?? "")
    .split(",")
    .map((label) => label.trim())
    .filter((label) => label !== "");
  if (labels.length > LABEL_LIMITS.tags || labels.some(({ length }) => length > LABEL_LIMITS.tag))
    complain(
      "Upstash-Label",
      `at most ${LABEL_LIMITS.tags} labels of at most ${LABEL_LIMITS.tag} characters`,
    );
  else if (tagComplaints(labels).length > 0) complain("Upstash-Label", "distinct labels");

  const options = {
    method: method("method") ?? "POST",
    headers: forwarded,
    delaySeconds: seconds("delay", LONGEST_DELAY_SECONDS),
    notBefore: readNotBefore(option("not-before"), now, complain),
    retries: whole("retries", MOST_RETRIES),
    retryDelay: expression("retry-delay"),
    timeoutSeconds: seconds("timeout", LONGEST_TIMEOUT_SECONDS, 1),
    deduplicationId: text("deduplication-id"),
    isDeduplicatedByContent: option("content-based-deduplication")?.toLowerCase() === "true",
    labels,
    redact: readRedaction(option("redact-fields"), complain),
    flow: parseFlow(option("flow-control-key"), option("flow-control-value"), complain),
    callback: callback("callback"),
    failureCallback: callback("failure-callback"),
    queue: named("queue-name"),
    scheduleId: named("schedule-id"),
    cron: option("cron") ?? null,
  };
  if (complaints.length > 0) throw invalid(complaints);
  return options;
}

function isKnown(name: string, set: OptionSet): boolean {
  if (set === "retry" ? OF_RETRY.has(name) : COMMON.has(name) || OWN[set].has(name)) return true;
  if (name.startsWith("forward-") || name.startsWith("telemetry-")) return true;
  const ofCallback = /^(?:failure-)?callback-(.+)$/.exec(name)?.[1];
  return ofCallback !== undefined && (OF_CALLBACK.has(ofCallback) || ofCallback.startsWith("forward-"));
}

function hintFor(name: string): string {
  if (name === "upstash-cron") return " here: create a schedule with POST /v2/schedules/…";
  return name === "upstash-queue-name" ? " here: publish with POST /v2/enqueue/…" : "";
}

function forwardedBy(headers: HeaderMap, prefix: string): Record<string, string> {
  const forwarded = [...headers].filter(([name]) => name.startsWith(prefix) && name.length > prefix.length);
  return Object.fromEntries(forwarded.map(([name, value]) => [name.slice(prefix.length), value]));
}

function othersIn(headers: HeaderMap): Record<string, string> {
  return Object.fromEntries(
    [...headers].filter(
      ([name]) =>
        !name.startsWith("upstash-") &&
        !NEVER_FORWARDED.has(name) &&
        !forbiddenHeader(name) &&
        !SET_BY_US.test(name),
    ),
  );
}

function callHeaderComplaints(headers: Readonly<Record<string, string>>): ProblemDetail[] {
  const ours = Object.keys(headers).find((name) => SET_BY_US.test(name));
  if (ours !== undefined)
    return [{ field: ours, error: `Header "${ours}" cannot be forwarded: Bellhop sets it` }];
  return headerComplaints(headers);
}

function readNotBefore(
  text: string | undefined,
  now: Date,
  complain: (field: string, rule: string) => null,
): Date | null {
  if (text === undefined || text === "") return null;
  const ms = /^\d{1,12}$/.test(text) ? Number(text) * 1000 : Number.NaN;
  if (Number.isNaN(ms)) return complain("Upstash-Not-Before", "a Unix time in seconds");
  if (ms - now.getTime() > LONGEST_DELAY_SECONDS * 1000)
    return complain("Upstash-Not-Before", "at most 1 year ahead");
  return new Date(ms);
}

const MOST_REDACTED = CALL_LIMITS.headers;

/** `body`, `header` or `headers`, `header[Name]`, separated by commas. */
function readRedaction(
  text: string | undefined,
  complain: (field: string, rule: string) => null,
): Redaction | null {
  if (text === undefined || text === "") return null;
  const parts = text.split(",").map((part) => part.trim());
  const names: string[] = [];
  let isAll = false;
  let body = false;
  for (const part of parts) {
    const name = /^headers?\[([^\]]{1,256})\]$/i.exec(part)?.[1];
    if (name !== undefined) names.push(name.toLowerCase());
    else if (/^headers?$/i.test(part)) isAll = true;
    else if (part.toLowerCase() === "body") body = true;
    else return complain("Upstash-Redact-Fields", "a list of body, header and header[Name]");
  }
  if (names.length > MOST_REDACTED)
    return complain("Upstash-Redact-Fields", `at most ${MOST_REDACTED} headers`);
  return {
    ...(body && { body: true as const }),
    ...((isAll || names.length > 0) && { headers: isAll ? (true as const) : names }),
  };
}

/** `upstash-retry-delay` as documentation writes it. */
export function headerName(name: string): string {
  return name.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase());
}
