import { BellhopError, SignatureError } from "./errors.ts";
import { type Camel, fromWire } from "./names.ts";
import type { components } from "./openapi.ts";
import { checkOptions } from "./options.ts";
import { readKeys, type Secrets } from "./secrets.ts";
import { type AnyHeaders, headerOf, verify } from "./webhook.ts";

/** Thrown by a handler to fail the task without further retries. The text goes to its record. */
export class NoRetry extends Error {
  override name = "NoRetry";
}

/** At a webhook it has an event's `type`, the task as in a list, and of an event of a queue no task but the `queue`. */
export type Notification = Camel<components["schemas"]["TaskNotification"]>;

export interface ReceivedCall<Payload = unknown> {
  /** The task's payload; for a notification, its whole body. */
  readonly payload: Payload;
  /** The same on every attempt. Signed, like the payload; `attempt`, `queue` and `headers` are not. */
  readonly taskId: string;
  /** From 1. */
  readonly attempt: number;
  readonly queue: string | null;
  /** The notification at an `onCompleteUrl`, with camelCase names; null in the call of a task. */
  readonly notification: Notification | null;
  readonly headers: AnyHeaders;
}

export interface HandlerOptions {
  /** The team's signing secret, `whsec_…`, or several; by default `BELLHOP_SIGNING_SECRET`. */
  readonly secret?: Secrets | undefined;
  /** Larger bodies are refused before the signature check; 16 MiB by default. */
  readonly maxBytes?: number | undefined;
  /** Called with the error of a handler, before the task is retried; by default it is printed. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export type Handle<Payload> = (call: ReceivedCall<Payload>) => unknown;

/** The arguments of each `handler`: options may be omitted if the secret is in the environment. */
export type HandlerArgs<Payload> =
  | [handle: Handle<Payload>]
  | [options: HandlerOptions, handle: Handle<Payload>];

/** A request as an adapter hands it over. */
export interface Incoming {
  readonly headers: AnyHeaders;
  /** As it arrived, byte for byte: whole, or in pieces. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

export type Receive = (incoming: Incoming) => Promise<Response>;

/**
 * Verifies a request of Bellhop, passes it to the handler and answers: the function behind the `handler` of every
 * framework. Throws at once for an invalid option.
 */
export function createReceiver<Payload>(args: HandlerArgs<Payload>): Receive {
  const [options, handle] = args.length === 1 ? [{}, args[0]] : args;
  if (typeof handle !== "function") throw new BellhopError("The function that handles calls is missing");
  checkOptions(options, ["secret", "maxBytes", "onError"]);
  const { maxBytes = 16 * 1024 * 1024, onError = console.error } = options;
  const keys = readKeys(options.secret);

  async function receive({ headers, body: pieces }: Incoming): Promise<Response> {
    const body = await readBody(pieces, maxBytes);
    if (body === null) return json(413, { error: "Request body too large" });
    const { id, payload } = await verify(keys, { body, headers });
    const notification = isTaskId(id) ? null : (fromWire(payload) as Notification);
    const value = await handle({
      // The type is the caller's word for what its own tasks carry.
      payload: payload as Payload,
      // An event of a queue is about no task.
      taskId: notification === null ? id : (taskIdOf(notification) ?? id),
      attempt: Number(headerOf(headers, "bellhop-attempt") ?? 1),
      queue: headerOf(headers, "bellhop-queue"),
      notification,
      headers,
    });
    if (value instanceof Response) return value;
    return value === undefined ? new Response(null, { status: 204 }) : json(200, value);
  }

  return async (incoming) => {
    try {
      return await receive(incoming);
    } catch (error) {
      if (error instanceof SignatureError) return json(401, { error: error.message });
      if (isNoRetry(error)) return json(422, { error: error.message }, { "bellhop-no-retry": "true" });
      onError(error);
      // Its text may hold what does not belong in a task's record.
      return json(500, { error: "The handler failed" });
    }
  };
}

/** By its name: a program may have loaded the package twice, by `import` and by `require`. */
function isNoRetry(error: unknown): error is Error {
  return error instanceof Error && error.name === "NoRetry";
}

function taskIdOf({
  data,
}: {
  readonly data: { readonly task?: { readonly id: string } };
}): string | undefined {
  return data.task?.id;
}

function isTaskId(id: string): boolean {
  return /^task_|^[0-9a-f]{8}-/.test(id);
}

/** Null when it is too large. */
async function readBody(body: Incoming["body"], maxBytes: number): Promise<Uint8Array | null> {
  if (body instanceof Uint8Array) return body.length > maxBytes ? null : body;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) return null;
    chunks.push(chunk);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

function json(status: number, value: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { ...headers, "content-type": "application/json" },
  });
}
