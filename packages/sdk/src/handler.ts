import { BellhopError, SignatureError } from "./errors.ts";
import { type Camel, fromWire } from "./names.ts";
import type { components } from "./openapi.ts";
import { type AnyHeaders, headerOf, verifyWebhook } from "./webhook.ts";

/** Thrown by a handler: the task ends as failed, whatever retries it has left. The text goes to its record. */
export class NoRetry extends Error {
  override name = "NoRetry";
}

/** At a webhook it has an event's `type`, the task as in a list, and of an event of a queue no task but the `queue`. */
export type Notification = Camel<components["schemas"]["TaskNotification"]>;

export interface ReceivedCall<Payload = unknown> {
  /** What the task was created with; of a notification, its whole body. */
  readonly payload: Payload;
  /** The same on every attempt. Signed, like the payload; `attempt`, `queue` and `headers` are not. */
  readonly taskId: string;
  /** From 1. */
  readonly attempt: number;
  readonly queue: string | null;
  /** What came to an `onCompleteUrl`, with camelCase names; null in the call of a task. */
  readonly notification: Notification | null;
  readonly headers: AnyHeaders;
}

export interface HandlerOptions {
  /** The team's signing secret, `whsec_…`. */
  readonly secret: string;
  /** Larger bodies are refused before their signature is looked at; 16 MiB by default. */
  readonly maxBytes?: number;
  /** Told what a handler threw, before the task is retried; by default it is printed. */
  readonly onError?: (error: unknown) => void;
}

/** What is used of Node's `IncomingMessage`, or of Express's request. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body?: unknown;
}

export interface NodeResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body: Uint8Array): unknown;
}

export interface Handler {
  (request: Request, ...context: unknown[]): Promise<Response>;
  (request: NodeRequest, response: NodeResponse): Promise<void>;
}

/**
 * Receives what Bellhop sends, in servers that speak `Request` and `Response` and in Node's own. A request that is not
 * signed by the team's secret never reaches `handle`. Its value is answered as JSON and kept as the task's result; what
 * it throws makes Bellhop try again, unless it is a `NoRetry`.
 */
export function handler<Payload = unknown>(
  options: HandlerOptions,
  handle: (call: ReceivedCall<Payload>) => unknown,
): Handler {
  const { maxBytes = 16 * 1024 * 1024, onError = console.error } = options;

  async function answer(request: Request | NodeRequest): Promise<Response> {
    try {
      const body = await bodyOf(request, maxBytes);
      if (body === null) return json(413, { error: "Request body too large" });
      const { headers } = request;
      const { id, payload } = await verifyWebhook({ body, headers, secret: options.secret });
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
    } catch (error) {
      if (error instanceof SignatureError) return json(401, { error: error.message });
      if (error instanceof NoRetry)
        return json(422, { error: error.message }, { "bellhop-no-retry": "true" });
      onError(error);
      // Its text may hold what does not belong in a task's record.
      return json(500, { error: "The handler failed" });
    }
  }

  async function receive(request: Request | NodeRequest, response?: unknown): Promise<Response | undefined> {
    const answered = await answer(request);
    if (isFetch(request)) return answered;
    await write(answered, response as NodeResponse);
    return undefined;
  }
  return receive as Handler;
}

function isFetch(request: Request | NodeRequest): request is Request {
  return "arrayBuffer" in request;
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
async function bodyOf(request: Request | NodeRequest, maxBytes: number): Promise<Uint8Array | string | null> {
  if (!isFetch(request) && request.body !== undefined) {
    if (typeof request.body === "string" || request.body instanceof Uint8Array) return request.body;
    throw new BellhopError(
      "The body was parsed before the handler saw it: put the handler before the parser",
    );
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of isFetch(request) ? chunksOf(request) : request) {
    size += chunk.length;
    if (size > maxBytes) return null;
    chunks.push(chunk);
  }
  const body = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}

/** Not every runtime lets `for await` walk over a stream. */
async function* chunksOf({ body }: Request): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  while (reader !== undefined) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

async function write(answered: Response, response: NodeResponse): Promise<void> {
  response.statusCode = answered.status;
  answered.headers.forEach((value, name) => {
    response.setHeader(name, value);
  });
  response.end(new Uint8Array(await answered.arrayBuffer()));
}

function json(status: number, value: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { ...headers, "content-type": "application/json" },
  });
}
