import { ApiError, ConnectionError, TimeoutError } from "./errors.ts";
import { type Camel, fromWire } from "./names.ts";
import type { components } from "./openapi.ts";
import { pathOf, type QueryOf } from "./operation.ts";
import { checkOptions } from "./options.ts";
import { ROUTES } from "./routes.ts";
import type { TaskSummary } from "./tasks.ts";
import { sleep, type Transport } from "./transport.ts";

/** An event. `id` is the position to resume after. */
export type BellhopEvent =
  | {
      readonly id: string;
      readonly type: `task.${string}`;
      /** For a task that was deleted since: only `id`, `queue` and `status`. */
      readonly task: TaskSummary;
    }
  | {
      readonly id: string;
      readonly type: `queue.${string}`;
      readonly queue: Camel<components["schemas"]["Queue"]>;
    }
  /** Events may be missing: the resume position is more than a day old, or the team had no subscriber since. */
  | { readonly id: string; readonly type: "reset" };

type EventQuery = Omit<QueryOf<"streamEvents">, "types"> & {
  readonly types?: readonly string[] | undefined;
};

export interface EventOptions {
  /** Ends the stream by throwing its reason. */
  readonly signal?: AbortSignal | undefined;
  /** The `id` of the last event that was seen. */
  readonly lastEventId?: string | undefined;
  /** Called whenever a connection is open: no later event is missed. `id` is the position to resume after. */
  readonly onReady?: ((id: string) => void) | undefined;
}

/** The server writes every 15 s: a connection that is silent for this long is replaced. */
const SILENCE_MS = 45_000;
const LONGEST_WAIT_MS = 8_000;

/** The event stream. A broken connection is replaced and continues after the last event; a permanent refusal is thrown. */
export function createEvents(transport: Transport) {
  return async function* events(
    { types, ...query }: EventQuery = {},
    options: EventOptions = {},
  ): AsyncGenerator<BellhopEvent> {
    checkOptions(options, ["signal", "lastEventId", "onReady"]);
    const { signal, lastEventId, onReady } = options;
    const path = pathOf(ROUTES.streamEvents, { query: { ...query, types: types?.join(",") } });
    let lastId = lastEventId;
    for (let failures = 0; ; ) {
      signal?.throwIfAborted();
      let waitMs = Math.min(250 * 2 ** failures, LONGEST_WAIT_MS);
      try {
        for await (const block of readBlocks(transport, path, lastId, signal)) {
          failures = 0;
          lastId = block.id ?? lastId;
          if (block.event === "ready") onReady?.(lastId ?? "");
          else if (block.data !== undefined) yield toEvent(block.event, lastId ?? "", block.data);
        }
      } catch (error) {
        signal?.throwIfAborted();
        if (!isPassing(error)) throw error;
        if (error instanceof ApiError) waitMs = error.retryAfterMs ?? waitMs;
      }
      failures += 1;
      await sleep(waitMs * (0.5 + Math.random() / 2), signal);
    }
  };
}

function isPassing(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 429 || error.status >= 500;
  return error instanceof ConnectionError || error instanceof TimeoutError;
}

interface Block {
  readonly id?: string;
  readonly event: string;
  readonly data?: string;
}

async function* readBlocks(
  transport: Transport,
  path: string,
  lastId: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Block> {
  const stream = await transport.open(path, lastId === undefined ? {} : { "last-event-id": lastId }, {
    signal,
    silenceMs: SILENCE_MS,
  });
  let unread = "";
  for await (const text of stream) {
    const blocks = (unread + text).split("\n\n");
    unread = blocks.pop() ?? "";
    for (const block of blocks) yield parseBlock(block);
  }
}

function parseBlock(block: string): Block {
  const fields = new Map<string, string>();
  for (const line of block.split("\n")) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name !== undefined) fields.set(name, value ?? "");
  }
  const { id, event = "", data } = Object.fromEntries(fields);
  return { event, ...(id !== undefined && { id }), ...(data !== undefined && { data }) };
}

/** As in every answer, fields of a newer server are passed through. */
function toEvent(type: string, id: string, data: string): BellhopEvent {
  return { id, type, ...(fromWire(JSON.parse(data)) as object) } as BellhopEvent;
}
