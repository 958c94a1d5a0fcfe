import { setTimeout as sleep } from "node:timers/promises";
import { type Api, createApi } from "../rig/api.ts";
import type { Node } from "../rig/node.ts";
import { readTaskId } from "../rig/task-requests.ts";
import type { PromptTarget } from "./target.ts";

/** Allowed for an answer, and for the runner to see it. */
const MOST_MS = 2_500;

/** Somebody who creates a task every so often, whatever happens to the server. */
export interface Load {
  /** Ids of the tasks that were answered 201. */
  readonly accepted: readonly string[];
  /** How many requests had each answer: a status, or why there was none. */
  counts(): string;
  /** When the last request but one that was refused is followed by good ones only; null while the last was refused. */
  readonly lastRefusedAt: number | null;
  /** Ends it, and says what no server may do: an answer 500, or one that is late. */
  stop(): Promise<string[]>;
}

export function startLoad(options: {
  readonly node: Node;
  readonly target: PromptTarget;
  readonly everyMs: number;
  /** Bytes of each payload: what fills a disk. */
  readonly bytes: number;
  /** Several at a time. */
  readonly clients?: number;
}): Load {
  const { node, target } = options;
  const api: Api = createApi();
  const accepted: string[] = [];
  const over = new AbortController();
  let count = 0;
  let lastRefusedAt: number | null = null;

  async function create(): Promise<void> {
    count += 1;
    const webhook_url = `${target.url}/${count}`;
    const body = { queue: "default", webhook_url, payload: { fill: noise(options.bytes) } };
    const asked = { action: "create", node, method: "POST", path: "/v1/tasks", body } as const;
    const told = await api.ask(asked, readTaskId);
    const id = readTaskId(told.body);
    if (told.status === 201 && id !== null) accepted.push(id);
    else lastRefusedAt = performance.now();
  }

  async function work(): Promise<void> {
    while (!over.signal.aborted) {
      await create();
      await sleep(options.everyMs, undefined, { signal: over.signal }).catch(() => {});
    }
  }

  const working = Promise.all(Array.from({ length: options.clients ?? 1 }, work));
  return {
    accepted,
    get lastRefusedAt() {
      return lastRefusedAt;
    },
    counts() {
      const counts = new Map<string, number>();
      for (const { status, failure } of api.answers) {
        const name = String(status ?? failure);
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
      return [...counts].map(([name, times]) => `${times} × ${name}`).join(", ");
    },
    async stop() {
      over.abort();
      await working;
      const bugs = api.answers.filter(({ status }) => status === 500).length;
      const late = api.answers.filter(({ at, endedAt }) => endedAt - at > MOST_MS);
      const longest = Math.max(0, ...late.map(({ at, endedAt }) => endedAt - at));
      return [
        ...(bugs > 0 ? [`${bugs} requests were answered 500`] : []),
        ...(late.length > 0 ? [`${late.length} answers took up to ${(longest / 1000).toFixed(1)} s`] : []),
      ];
    },
  };
}

/** What cannot be compressed. */
function noise(bytes: number): string {
  let text = "";
  while (text.length < bytes) text += Math.random().toString(36).slice(2);
  return text.slice(0, bytes);
}

/** How many tasks are not completed when `forMs` have passed; none at best, and then it returns at once. */
export async function waitForAll(node: Node, ids: readonly string[], forMs: number): Promise<string[]> {
  const api = createApi();
  const untilMs = performance.now() + forMs;
  let left: readonly string[] = ids;
  while (left.length > 0 && performance.now() < untilMs) {
    const open: string[] = [];
    for (const id of left) {
      const { body } = await api.ask({ action: "read", node, method: "GET", path: `/v1/tasks/${id}` });
      const isDone =
        typeof body === "object" && body !== null && "status" in body && body.status === "completed";
      if (!isDone) open.push(id);
    }
    left = open;
    if (left.length > 0) await sleep(500);
  }
  return [...left];
}
