import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { parseTaskId } from "../../packages/server/src/domain/task-id.ts";
import type { RestoreRecord } from "../checker/restored.ts";
import { createApi } from "../rig/api.ts";
import { now } from "../rig/clock.ts";
import type { Node } from "../rig/node.ts";
import { readTaskId } from "../rig/task-requests.ts";

const CLIENTS = 4;
const PAUSE_MS = 20;
/** Longer than a backup takes: some tasks are due between its end and the restore, some after it. */
const LONGEST_DELAY_SECONDS = 20;

/** Answers 200, or 500 where the path says so, and notes each call. */
export async function startCountingTarget() {
  const calls: { id: string; at: number }[] = [];
  const server = createServer((request, response) => {
    request.resume();
    const publicId = String(request.headers["bellhop-task-id"]);
    calls.push({ id: parseTaskId(publicId) ?? publicId, at: now() });
    response.statusCode = request.url?.startsWith("/fail") ? 500 : 200;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 1_024, resolve));
  const address = server.address();
  return {
    calls,
    url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Tasks with all kinds of fields: most are called at once, some fail, some are due later. */
export function startVariedLoad(node: Node, url: string) {
  const api = createApi();
  const accepted: RestoreRecord["accepted"][number][] = [];
  const over = new AbortController();
  let count = 0;

  async function create(): Promise<void> {
    count += 1;
    const request = {
      queue: "default",
      webhook_url: `${url}/${count % 10 === 0 ? "fail" : "ok"}/${count}`,
      payload: { count, fill: "x".repeat(count % 700) },
      headers: { "X-Count": String(count) },
      priority: (count % 10) + 1,
      max_retries: 0,
      tags: [`tag-${count % 7}`],
      metadata: { count: String(count) },
    };
    const delay = count % 3 === 0 ? { delay: (count % LONGEST_DELAY_SECONDS) + 1 } : {};
    const asked = { action: "create", node, method: "POST", path: "/v1/tasks" } as const;
    const told = await api.ask({ ...asked, body: { ...request, ...delay } }, readTaskId);
    const id = readTaskId(told.body);
    if (told.status === 201 && id !== null) accepted.push({ id, at: now(), request });
  }

  async function work(): Promise<void> {
    while (!over.signal.aborted) {
      await create();
      await sleep(PAUSE_MS);
    }
  }

  const working = Promise.all(Array.from({ length: CLIENTS }, work));
  return {
    accepted,
    async reach(tasks: number) {
      while (accepted.length < tasks) await sleep(20);
    },
    async stop() {
      over.abort();
      await working;
    },
  };
}
