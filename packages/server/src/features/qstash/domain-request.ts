import { type RefuseUrl, urlComplaint } from "../../domain/call.ts";
import { invalid } from "../../domain/complaint.ts";
import { type Limits, within } from "../../domain/limits.ts";
import type { Message, MessageCallback, Redaction } from "../../domain/message.ts";
import { messageRequestOf, type TaskRequest } from "../../domain/task-copies.ts";
import type { MessageOptions } from "./domain-options.ts";

/** Messages without a queue go here. Its own settings are the defaults of QStash. */
export const MESSAGE_QUEUE = "qstash";

export const DEFAULT_RETRIES = 3;
/** As of their smallest plan; a smaller one of the team's plan applies. */
export const DEFAULT_TIMEOUT_SECONDS = 900;

/** The body of a message: text, or bytes in base64 if PostgreSQL cannot store them as text. */
export interface MessageBody {
  readonly text: string | null;
  readonly isBase64: boolean;
}

/** One URL of a message, with its place in a URL group. */
export interface Recipient {
  readonly url: string;
  readonly topic?: string;
  readonly endpoint?: string;
}

interface Part {
  readonly call: TaskRequest["call"];
  readonly queue: string;
  readonly message: Message;
  readonly delaySeconds: number;
  readonly runAt: Date | null;
  readonly retries: number | null;
  readonly timeoutSeconds: number | null;
  readonly labels: readonly string[];
}

function requestOf(part: Part): TaskRequest {
  return messageRequestOf({
    call: part.call,
    queue: part.queue,
    message: part.message,
    delaySeconds: part.delaySeconds,
    runAt: part.runAt,
    timeoutSeconds: part.timeoutSeconds,
    maxRetries: part.retries,
    tags: part.labels.length === 0 ? null : part.labels,
    flow: flowOf(part.message),
  });
}

function flowOf({ flow }: Message): TaskRequest["flow"] {
  if (flow === undefined) return null;
  const { key, parallelism = null, rate = null, periodSeconds = 1 } = flow;
  return { key, concurrency: parallelism, rate, period: rate === null ? null : periodSeconds, ordered: null };
}

/** Settings that the queue of messages has already are left to it: so most messages are stored like most tasks. */
function settingsIn(
  queue: string,
  { retries, timeoutSeconds }: Pick<MessageOptions, "retries" | "timeoutSeconds">,
  limits: Limits,
): Pick<Part, "retries" | "timeoutSeconds"> {
  if (queue === MESSAGE_QUEUE) return { retries, timeoutSeconds };
  return {
    retries: retries ?? within(limits, "retries", DEFAULT_RETRIES),
    timeoutSeconds: timeoutSeconds ?? within(limits, "timeoutSeconds", DEFAULT_TIMEOUT_SECONDS),
  };
}

export interface MessageContext {
  readonly queue: string;
  readonly now: Date;
  readonly limits: Limits;
  readonly refuseUrl: RefuseUrl;
  readonly scheduleId?: string;
}

/** Most messages have no option that their task lacks. */
const PLAIN: Message = Object.freeze({});

/** The task of a message to one URL. Refuses addresses that the egress policy refuses. */
export function messageRequest(
  options: MessageOptions,
  { url, topic, endpoint }: Recipient,
  body: MessageBody,
  context: MessageContext,
): TaskRequest {
  const { now, queue, refuseUrl, scheduleId } = context;
  const { callback, failureCallback, redact, retryDelay, flow, notBefore } = options;
  const complaint =
    urlComplaint("destination", url, refuseUrl) ??
    (callback && urlComplaint("Upstash-Callback", callback.url, refuseUrl)) ??
    (failureCallback && urlComplaint("Upstash-Failure-Callback", failureCallback.url, refuseUrl));
  if (complaint !== null) throw invalid([complaint]);
  // The past means now.
  const runAt = notBefore !== null && notBefore > now ? notBefore : null;
  const delaySeconds = notBefore === null ? (options.delaySeconds ?? 0) : 0;
  const notBeforeMs = notBefore?.getTime() ?? (delaySeconds > 0 ? now.getTime() + delaySeconds * 1000 : null);
  const isPlain =
    !body.isBase64 &&
    topic === undefined &&
    scheduleId === undefined &&
    notBeforeMs === null &&
    redact === null &&
    retryDelay === null &&
    callback === null &&
    failureCallback === null &&
    flow === null;
  return requestOf({
    call: { method: options.method, url, headers: options.headers, body: body.text },
    queue,
    message: isPlain
      ? PLAIN
      : {
          ...(body.isBase64 && { base64: true as const }),
          ...(redact !== null && { redact }),
          ...(retryDelay !== null && { retryDelay }),
          ...(topic !== undefined && { topic }),
          ...(endpoint !== undefined && { endpoint }),
          ...(scheduleId !== undefined && { schedule: scheduleId }),
          ...(callback !== null && { callback }),
          ...(failureCallback !== null && { failureCallback }),
          ...(flow !== null && { flow }),
          ...(notBeforeMs !== null && { notBeforeMs }),
        },
    delaySeconds,
    runAt,
    labels: options.labels,
    ...settingsIn(queue, options, context.limits),
  });
}

/** The task of a callback: a message of its own, with the retries of the one that it tells about unless it has some. */
export function callbackRequest(
  { url, method, headers, timeoutSeconds, retries, retryDelay, delaySeconds }: MessageCallback,
  text: string,
  source: {
    readonly id: string;
    readonly maxRetries: number;
    readonly retryDelay?: string | undefined;
    readonly redact?: Redaction | undefined;
    readonly lineOf?: number;
  },
): TaskRequest {
  const expression = retryDelay ?? source.retryDelay;
  return requestOf({
    call: { method, url, headers: { "content-type": "application/json", ...headers }, body: text },
    queue: MESSAGE_QUEUE,
    message: {
      source: source.id,
      ...(source.lineOf !== undefined && { lineOf: source.lineOf }),
      ...(expression !== undefined && { retryDelay: expression }),
      // It repeats what the message hides.
      ...(source.redact !== undefined && { redact: { body: true as const } }),
    },
    delaySeconds: delaySeconds ?? 0,
    runAt: null,
    retries: retries ?? source.maxRetries,
    timeoutSeconds: timeoutSeconds ?? null,
    labels: [],
  });
}
