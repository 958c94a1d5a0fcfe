import { type ClientRequest, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { parseTaskId } from "../../packages/server/src/domain/task-id.ts";
import type { Reader, ToldEvent } from "../checker/history.ts";
import { now } from "./clock.ts";
import type { Node } from "./node.ts";
import { noncesOf, parse, stateOf } from "./nonces.ts";
import type { Random } from "./random.ts";
import { isRecord } from "./task-requests.ts";

/** A stream says something every 15 s: a connection that is silent for longer leads nowhere. */
const SILENCE_MS = 18_000;

export interface EventReader extends Reader {
  stop(): Promise<void>;
}

/**
 * Follows the events of a team on one node after the other: whatever ends a stream, the next goes on after the last id that
 * was read. A restless one hangs up by itself every few seconds, also before it was told anything.
 */
export function startReader(options: {
  readonly teamId: number;
  readonly key: string;
  readonly nodes: readonly Node[];
  readonly random: Random;
  readonly restless: boolean;
}): EventReader {
  const { nodes, random } = options;
  const told: ToldEvent[] = [];
  const over = new AbortController();
  let readyAt: number | null = null;
  let lastId: string | null = null;

  function take(block: string): void {
    const fields = new Map(
      block.split("\n").map((line) => [line.split(":")[0], line.replace(/^[^:]*: ?/, "")]),
    );
    const [id, type, data] = [fields.get("id"), fields.get("event"), fields.get("data")];
    lastId = id ?? lastId;
    if (type === "ready") readyAt ??= now();
    else if (type !== undefined && id !== undefined) told.push(readEvent(id, type, data ?? ""));
  }

  /** Resolves when the server or the reader ends the stream. */
  function follow({ url }: Node): Promise<void> {
    return new Promise((resolve) => {
      const stream = request(`${url}/v1/events`, {
        agent: false,
        headers: {
          authorization: `Bearer ${options.key}`,
          ...(lastId !== null && { "last-event-id": lastId }),
        },
      });
      const restsMs = options.restless ? random.between(20, 6_000) : SILENCE_MS * 10;
      const hangUp = setTimeout(() => stream.destroy(), restsMs);
      stream.setTimeout(SILENCE_MS, () => stream.destroy());
      const end = () => {
        clearTimeout(hangUp);
        over.signal.removeEventListener("abort", abort);
        resolve();
      };
      const abort = () => stream.destroy();
      over.signal.addEventListener("abort", abort);
      stream.on("error", end);
      stream.on("close", end);
      readBlocks(stream, take);
      stream.end();
    });
  }

  async function read(): Promise<void> {
    while (!over.signal.aborted) {
      await follow(random.pick(nodes));
      await sleep(random.between(20, 300));
    }
  }

  const reading = read();
  return {
    teamId: options.teamId,
    told,
    get readyAt() {
      return readyAt;
    },
    async stop() {
      over.abort();
      await reading;
    },
  };
}

/** What is not ended by an empty line did not come whole, and counts for nothing. */
function readBlocks(stream: ClientRequest, take: (block: string) => void): void {
  stream.on("response", (response) => {
    if (response.statusCode !== 200) return void stream.destroy();
    let text = "";
    response.setEncoding("utf8");
    response.on("error", () => {});
    response.on("data", (chunk: string) => {
      const blocks = (text + chunk).split("\n\n");
      text = blocks.pop() ?? "";
      blocks.forEach(take);
    });
    response.on("end", () => stream.destroy());
  });
}

function readEvent(id: string, type: string, data: string): ToldEvent {
  const body = parse(data);
  const task = isRecord(body) ? body.task : null;
  const taskId = isRecord(task) ? String(task.id) : null;
  return {
    at: now(),
    id,
    type,
    taskId: taskId === null ? null : (parseTaskId(taskId) ?? taskId),
    ...stateOf(task),
    nonces: noncesOf(task),
  };
}
