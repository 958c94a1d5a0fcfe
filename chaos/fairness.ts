import { chmodSync, rmSync } from "node:fs";
import { mkdir, mkdtemp } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { endAtExit } from "../tools/ending.ts";
import { freePort } from "../tools/free-port.ts";
import { API_KEY } from "./rig/api.ts";
import { copyTask } from "./rig/copies.ts";
import { createNode, type Node } from "./rig/node.ts";
import { createPostgres, type Postgres } from "./rig/postgres.ts";
import { addTeam } from "./rig/teams.ts";

/** What another team's task may have to wait. */
const MOST_MS = 1_000;
const EVERY_MS = 250;
/** Two queues of the greedy team, each as wide as a queue can be: together as many calls as a node makes. */
const QUEUES = ["greedy-1", "greedy-2"];

export interface FairnessOptions {
  readonly distDir: string;
  readonly tasks: number;
  readonly seconds: number;
  readonly say: (line: string) => void;
}

/** One team has more tasks than can ever be called, at a target that hangs; another has one now and then. */
export async function runFairness({ distDir, tasks, seconds, say }: FairnessOptions): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), "bellhop-fairness-"));
  chmodSync(directory, 0o755);
  endAtExit(() => rmSync(directory, { recursive: true, force: true }));
  const dataDir = join(directory, "data");
  await mkdir(dataDir);
  chmodSync(dataDir, 0o711);
  const postgres = await createPostgres({ dataDir, settings: {}, log: () => {} });
  await postgres.start();
  const { host, port, user, database } = postgres.connection;
  const node = createNode({
    index: 1,
    main: join(distDir, "main.js"),
    port: await freePort(),
    env: {
      HOST: "127.0.0.1",
      DATABASE_URL: `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`,
      BELLHOP_API_KEY: API_KEY,
      BELLHOP_EGRESS: "public",
      // Nothing else: a run never calls out of this machine.
      BELLHOP_EGRESS_ALLOW: "127.0.0.1",
      LOG_LEVEL: "warn",
    },
    logFile: join(directory, "node.log"),
  });
  const target = await startTarget();
  try {
    await node.start();
    await crowd(node, postgres, `${target.url}/hang`, tasks);
    say(`${tasks} tasks of one team are due, at a target that hangs`);
    while (target.hanging() < 500) await sleep(50);
    say(`${target.hanging()} calls hang`);
    const waits = await sample(node, postgres, target, seconds);
    const [left] = await postgres.query<{ count: number }>(
      "select count(*)::integer from tasks where status = 'pending'",
    );
    say(
      `waits      ${waits.length} tasks of another team, from the request to the call: half within ${at(waits, 0.5)}, 99 % within ${at(waits, 0.99)}, all within ${at(waits, 1)}`,
    );
    say(`meanwhile  ${target.hanging()} calls hung, ${left?.count} tasks were still pending`);
    const isGood = waits.length > 0 && waits.every((ms) => ms <= MOST_MS);
    say(isGood ? "0 violations" : `VIOLATED: a task waited for more than ${MOST_MS} ms`);
    return isGood;
  } finally {
    await node.kill();
    await postgres.kill();
    target.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** One task of each queue comes through the API; the others are copies of it, made at once. */
async function crowd(node: Node, postgres: Postgres, url: string, tasks: number): Promise<void> {
  for (const name of QUEUES) {
    await ask(node, API_KEY, "/v1/queues", { name, concurrency: 1_000 });
    await ask(node, API_KEY, `/v1/queues/${name}/pause`);
    await ask(node, API_KEY, "/v1/tasks", { queue: name, webhook_url: url, timeout: 600 });
    await copyTask(postgres.query, name, Math.floor(tasks / QUEUES.length) - 1);
  }
  await postgres.query("analyze tasks");
  for (const name of QUEUES) await ask(node, API_KEY, `/v1/queues/${name}/resume`);
}

/** How long after it was submitted each task of another team had its call arrive. */
async function sample(
  node: Node,
  postgres: Postgres,
  target: Pick<Target, "url" | "arrivedAt">,
  seconds: number,
): Promise<number[]> {
  const { key } = await addTeam(postgres, "Modest");
  const sentAt: number[] = [];
  const untilMs = performance.now() + seconds * 1000;
  while (performance.now() < untilMs) {
    const webhook_url = `${target.url}/${sentAt.length}`;
    sentAt.push(performance.now());
    await ask(node, key, "/v1/tasks", { queue: "default", webhook_url });
    await sleep(EVERY_MS);
  }
  await sleep(MOST_MS * 2);
  const waits = sentAt.map(
    (at, index) => (target.arrivedAt.get(`/${index}`) ?? Number.POSITIVE_INFINITY) - at,
  );
  return waits.sort((one, other) => one - other);
}

async function ask(node: Node, key: string, path: string, body?: object): Promise<void> {
  const answer = await fetch(`${node.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
}

type Target = Awaited<ReturnType<typeof startTarget>>;

async function startTarget() {
  let hanging = 0;
  const arrivedAt = new Map<string, number>();
  const server = createServer((request, response) => {
    request.resume();
    if (request.url !== "/hang") {
      arrivedAt.set(request.url ?? "", performance.now());
      return response.end();
    }
    hanging += 1;
    return response.once("close", () => {
      hanging -= 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 4_096, resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    hanging: () => hanging,
    arrivedAt,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function at(sorted: readonly number[], share: number): string {
  const index = Math.max(0, Math.ceil(sorted.length * share) - 1);
  return `${Math.round(sorted[index] ?? Number.NaN)} ms`;
}
