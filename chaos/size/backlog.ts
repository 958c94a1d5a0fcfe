import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readUsage } from "../../tools/process-usage.ts";
import { API_KEY } from "../rig/api.ts";
import { copyTask } from "../rig/copies.ts";
import type { Node } from "../rig/node.ts";
import { type SceneOptions, type SceneReport, seconds, share } from "./scene.ts";
import { createServer, makeDirectory, removeDirectory, type Server } from "./server.ts";
import { type PromptTarget, startPromptTarget } from "./target.ts";

/** After a start on a backlog a node is ready, and calls the first task, within this time. */
const READY_MS = 15_000;
const FIRST_CALL_MS = 2_000;
/** A task of another queue is called within this time, whatever else is due. */
const OTHERS_MS = 1_000;
const EVERY_MS = 250;
/** By so much the memory of the node may grow while it works on the herd, from the first quarter of the time to the last. */
const GROWTH = 1.2;

export async function ask(node: Node, path: string, body?: object): Promise<unknown> {
  const answer = await fetch(`${node.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${API_KEY}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** A queue of so many pending tasks, all due at the same instant. */
async function fill(
  { node, query }: Server,
  target: PromptTarget,
  tasks: number,
  say: (line: string) => void,
): Promise<void> {
  await ask(node, "/v1/queues", { name: "herd", concurrency: 100 });
  await ask(node, "/v1/queues/herd/pause");
  await ask(node, "/v1/tasks", {
    queue: "herd",
    webhook_url: `${target.url}/herd`,
    payload: { some: "work" },
  });
  const begunMs = performance.now();
  const batch = 100_000;
  for (let left = tasks - 1; left > 0; left -= batch) await copyTask(query, "herd", Math.min(batch, left));
  await query("analyze tasks");
  say(`${tasks} pending tasks, copied in ${seconds(performance.now() - begunMs)}`);
}

/** Kills the node and starts it again, which ends the database that was left behind first. Returns how long that took. */
async function restart({ node }: Server): Promise<number> {
  await node.kill();
  const begunMs = performance.now();
  await node.start();
  return performance.now() - begunMs;
}

/** So many tasks are pending when the server is killed: how long until it serves, and until it calls. */
export function backlog(tasks: number) {
  return async ({ distDir, say }: SceneOptions): Promise<SceneReport> => {
    const directory = await makeDirectory();
    const server = await createServer({ distDir, directory, dataDir: join(directory, "data") });
    const target = await startPromptTarget();
    try {
      await server.node.start();
      await fill(server, target, tasks, say);
      await ask(server.node, "/v1/queues/herd/resume");
      const before = target.calls;
      const readyMs = await restart(server);
      const readyAtMs = performance.now();
      const seen = target.calls;
      while (target.calls === seen && performance.now() - readyAtMs < 30_000) await sleep(1);
      const firstCallMs = performance.now() - readyAtMs;
      const { rssMb } = readUsage(server.node.pid ?? 0);
      await sleep(10_000);
      const rate = Math.round((target.calls - seen) / 10);
      return {
        lines: [
          `ready ${seconds(readyMs)} after the start of the process; the one before was killed by kill -9`,
          `first call ${Math.round(firstCallMs)} ms after that; then ${rate} calls a second for 10 s`,
          `memory of the node ${Math.round(rssMb)} MB; ${before} calls were made before the kill`,
        ],
        violations: [
          ...(readyMs > READY_MS ? [`it was ready after ${seconds(readyMs)}`] : []),
          ...(firstCallMs > FIRST_CALL_MS ? [`the first call came after ${seconds(firstCallMs)}`] : []),
        ],
        skipped: null,
      };
    } finally {
      target.stop();
      await server.stop();
      removeDirectory(directory);
    }
  };
}

/** So many tasks came due in one second while the server was away: what others have to wait, and what memory it takes. */
export function herd(tasks: number, forSeconds: number) {
  return async ({ distDir, say }: SceneOptions): Promise<SceneReport> => {
    const directory = await makeDirectory();
    const server = await createServer({ distDir, directory, dataDir: join(directory, "data") });
    const target = await startPromptTarget();
    try {
      await server.node.start();
      await ask(server.node, "/v1/queues", { name: "other" });
      await fill(server, target, tasks, say);
      await ask(server.node, "/v1/queues/herd/resume");
      await restart(server);
      const memory: number[] = [];
      const waits = await sampleOthers(server.node, target, forSeconds, memory);
      const [first = 0] = memory;
      const most = Math.max(...memory);
      const called = target.calls - waits.length;
      const late = waits.filter((ms) => ms > OTHERS_MS);
      return {
        lines: [
          `${called} of them called in ${forSeconds} s (${Math.round(called / forSeconds)} a second)`,
          `another queue's ${waits.length} tasks, from the request to the call: half within ${Math.round(share(waits, 0.5))} ms, 99 % within ${Math.round(share(waits, 0.99))} ms, all within ${Math.round(share(waits, 1))} ms`,
          `memory of the node ${Math.round(first)} MB after 5 s, ${Math.round(most)} MB at most, ${Math.round(memory.at(-1) ?? 0)} MB at the end`,
        ],
        violations: [
          ...(late.length > 0 ? [`${late.length} tasks of another queue waited for more than 1 s`] : []),
          ...(isGrowing(memory) ? [`memory grew from ${Math.round(first)} to ${Math.round(most)} MB`] : []),
        ],
        skipped: null,
      };
    } finally {
      target.stop();
      await server.stop();
      removeDirectory(directory);
    }
  };
}

/** By the medians, since memory goes up and down with every collection of garbage. */
function isGrowing(memory: readonly number[]): boolean {
  const quarter = Math.ceil(memory.length / 4);
  const median = (values: readonly number[]) =>
    share(
      values.toSorted((one, other) => one - other),
      0.5,
    );
  return median(memory.slice(-quarter)) > median(memory.slice(0, quarter)) * GROWTH;
}

/** From the first second on. Returns the waits in order; `memory` is given that of the node from the fifth second on. */
export async function sampleOthers(
  node: Node,
  target: PromptTarget,
  forSeconds: number,
  memory: number[],
): Promise<number[]> {
  const sentAt: number[] = [];
  const begunMs = performance.now();
  while (performance.now() - begunMs < forSeconds * 1000) {
    const webhook_url = `${target.url}/other-${sentAt.length}`;
    sentAt.push(performance.now());
    // A task that is refused is never called.
    await ask(node, "/v1/tasks", { queue: "other", webhook_url }).catch(() => {});
    await sleep(EVERY_MS);
    if (performance.now() - begunMs > 5_000) memory.push(readUsage(node.pid ?? 0).rssMb);
  }
  await sleep(OTHERS_MS * 2);
  const waits = sentAt.map(
    (at, index) => (target.arrivedAt.get(`/other-${index}`) ?? Number.POSITIVE_INFINITY) - at,
  );
  return waits.sort((one, other) => one - other);
}
