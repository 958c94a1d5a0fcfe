import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { parseTaskId } from "../packages/server/src/domain/task-id.ts";
import { freePort } from "../tools/free-port.ts";
import { API_KEY } from "./rig/api.ts";
import { now } from "./rig/clock.ts";
import { watchMachine } from "./rig/machine.ts";
import { createNode, type Node } from "./rig/node.ts";

const NODES = 3;
/** A load balancer takes a node out, and this many must stay. */
const LEAST_READY = NODES - 1;
const CLIENTS = 4;
/** Between two requests of a client, and between two looks at the nodes: a replacement takes seconds. */
const PAUSE_MS = 50;
const LONGEST_START_MS = 60_000;
/** In which all that was accepted must have ended. */
const CALM_MS = 60_000;
/** The machine is watched in spans of two seconds, and a node gives a statement up after less than that. */
const EXCUSED_MS = 2_000;

export interface RollingUpgradeOptions {
  readonly connection: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly database: string;
  };
  /** The main files of the two builds. */
  readonly from: string;
  readonly to: string;
  /** For the logs of the nodes. */
  readonly directory: string;
  /** Of load before, between and after the replacements. */
  readonly seconds: number;
  readonly say: (line: string) => void;
}

export interface RollingUpgradeVerdict {
  readonly violations: readonly string[];
  readonly lines: readonly string[];
}

/**
 * Three nodes of one build under load are replaced by nodes of another, one after the other. When the first new node has
 * migrated the schema, an old node is restarted too, as after a crash in the middle of an upgrade. Clients ask the nodes that
 * are ready, and ask the next one when a connection is refused or broken, as a load balancer does.
 */
export async function runRollingUpgrade(options: RollingUpgradeOptions): Promise<RollingUpgradeVerdict> {
  const { from, to, directory, seconds, say } = options;
  const pool = new pg.Pool({ ...options.connection, max: 1 });
  const target = await startTarget();
  const machine = watchMachine();
  const ports = await Promise.all(Array.from({ length: NODES }, freePort));
  const make = (main: string) =>
    ports.map((port, index) =>
      createNode({
        index: index + 1,
        main,
        port,
        env: settingsFor(options.connection),
        logFile: logOf(directory, index + 1),
      }),
    );
  const [old, next] = [make(from), make(to)];
  try {
    await Promise.all(old.map((node) => startInTime(node, directory)));
    const schemaBefore = await readSchema(pool);
    const balancer = watchReadiness(old.map(({ url }) => url));
    await balancer.sawAllReady();
    const load = startLoad(balancer.readyUrls, target.url);
    await sleep(seconds * 1000);
    for (const [index, node] of old.entries()) {
      await node.stop();
      const replacement = next[index];
      if (replacement !== undefined) await startInTime(replacement, directory);
      await balancer.sawAllReady();
      say(`node ${index + 1} of ${NODES} is replaced`);
      const last = old.at(-1);
      if (index === 0 && last !== undefined) {
        await last.stop();
        await startInTime(last, directory);
        await balancer.sawAllReady();
        say(`node ${NODES}, of the older build, is restarted`);
      }
      await sleep(seconds * 1000);
    }
    await load.stop();
    await balancer.stop();
    const schemaAfter = await readSchema(pool);
    const lost = await waitForEnds(pool, load.accepted);
    const uncalled = load.accepted.filter((id) => !target.called.has(id));
    const fewest = balancer.fewestReady();
    // A node that waits for a database without a processor must refuse: that says nothing about the upgrade.
    const isExcused = ({ at, text }: Refusal) =>
      text.includes('"database_away"') &&
      machine.crowded.some((span) => span.from - EXCUSED_MS <= at && at <= span.to + EXCUSED_MS);
    const excused = load.refusals.filter(isExcused);
    return {
      violations: [
        ...load.refusals
          .filter((refusal) => !isExcused(refusal))
          .map(({ text }) => `a client was answered ${text}`),
        ...(fewest < LEAST_READY ? [`${fewest} nodes were ready at a time: ${balancer.worst()}`] : []),
        ...lost.map((id) => `accepted, and not completed: ${id}`),
        ...uncalled.map((id) => `accepted, and its target was not called: ${id}`),
      ],
      lines: [
        `schema version ${schemaBefore} → ${schemaAfter}`,
        `${load.accepted.length} tasks accepted, ${target.calls()} calls, ${load.moved()} requests asked again of another node`,
        `${fewest} of ${NODES} nodes ready at the worst moment, in ${balancer.looks()} looks`,
        ...(excused.length === 0
          ? []
          : [
              `${excused.length} requests refused for a slow database while other work took the machine: not judged`,
            ]),
      ],
    };
  } finally {
    machine.stop();
    await Promise.all([...old, ...next].map((node) => node.kill()));
    await pool.end();
    await target.close();
  }
}

function settingsFor({ host, port, user, database }: RollingUpgradeOptions["connection"]) {
  return {
    HOST: "127.0.0.1",
    DATABASE_URL: `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`,
    BELLHOP_API_KEY: API_KEY,
    BELLHOP_PROCESSES: "1",
    BELLHOP_STOP_GRACE: "5",
    BELLHOP_EGRESS: "public",
    // Nothing else: a run never calls out of this machine.
    BELLHOP_EGRESS_ALLOW: "127.0.0.1",
    LOG_LEVEL: "info",
  };
}

/** A node of the rig starts again until it is ready; a build that refuses the schema never is. */
async function startInTime(node: Node, directory: string): Promise<void> {
  const late = sleep(LONGEST_START_MS, "late" as const, { ref: false });
  if ((await Promise.race([node.start(), late])) !== "late") return;
  const log = await readFile(logOf(directory, node.index), "utf8");
  throw new Error(`Node ${node.index} does not start:\n${log.slice(-2_000)}`);
}

function logOf(directory: string, index: number): string {
  return join(directory, `node-${index}.log`);
}

async function readSchema(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ version: number }>(
    "select max(version) as version from schema_migrations",
  );
  return rows[0]?.version ?? 0;
}

/** Asks every node again and again whether it is ready, as a load balancer does. */
function watchReadiness(urls: readonly string[]) {
  let ready: readonly string[] = [];
  let looks = 0;
  let hasBegun = false;
  let fewest = urls.length;
  let worst = "";
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      const told = await Promise.all(urls.map(askReady));
      ready = urls.filter((_, index) => told[index] === null);
      looks += 1;
      hasBegun ||= ready.length === urls.length;
      if (hasBegun && ready.length < fewest) {
        fewest = ready.length;
        worst = told.map((reason, index) => `node ${index + 1} ${reason ?? "ready"}`).join("; ");
      }
      await sleep(PAUSE_MS);
    }
  })();
  return {
    readyUrls: () => ready,
    looks: () => looks,
    fewestReady: () => fewest,
    worst: () => worst,
    async sawAllReady() {
      const untilMs = performance.now() + LONGEST_START_MS;
      while (ready.length < urls.length) {
        if (performance.now() > untilMs) throw new Error(`Not all nodes get ready: ${worst}`);
        await sleep(10);
      }
    },
    async stop() {
      stopped = true;
      await watching;
    },
  };
}

/** Null where it is ready, otherwise why not. */
async function askReady(url: string): Promise<string | null> {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) });
    const text = await answer.text();
    return answer.status === 200 ? null : `${answer.status} ${text}`;
  } catch {
    return "does not answer";
  }
}

interface Refusal {
  readonly at: number;
  readonly text: string;
}

function startLoad(readyUrls: () => readonly string[], targetUrl: string) {
  const accepted: string[] = [];
  const refusals: Refusal[] = [];
  let moved = 0;
  let stopped = false;
  /** One request, at one node after the other until one answers. */
  async function submit(turn: number, key: string): Promise<void> {
    for (let node = turn; ; node += 1) {
      const urls = readyUrls();
      const answer = await post(urls[node % Math.max(1, urls.length)], targetUrl, key);
      if (answer?.status === 201) accepted.push(answer.id);
      else if (answer !== null) refusals.push({ at: now(), text: `${answer.status} ${answer.text}` });
      if (answer !== null) return;
      moved += 1;
      await sleep(5);
    }
  }
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let turn = 0; !stopped; turn += 1) {
      await submit(client + turn, `upgrade-${client}-${turn}`);
      await sleep(PAUSE_MS);
    }
  });
  return {
    accepted,
    refusals,
    moved: () => moved,
    async stop() {
      stopped = true;
      await Promise.all(clients);
    },
  };
}

/** Null where there was no answer: the node is stopping, and the same idempotency key may go to another. */
async function post(url: string | undefined, targetUrl: string, key: string) {
  if (url === undefined) return null;
  try {
    const answer = await fetch(`${url}/v1/tasks`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${API_KEY}`,
        "content-type": "application/json",
        "idempotency-key": key,
      },
      body: JSON.stringify({ queue: "default", webhook_url: targetUrl, max_retries: 3 }),
      signal: AbortSignal.timeout(12_000),
    });
    const text = await answer.text();
    const body: unknown = JSON.parse(text);
    const id = typeof body === "object" && body !== null && "id" in body ? String(body.id) : "";
    // A repeat of what an earlier try stored is answered 200.
    return { status: answer.status === 200 ? 201 : answer.status, text, id: parseTaskId(id) ?? id };
  } catch {
    return null;
  }
}

async function startTarget() {
  const called = new Set<string>();
  let calls = 0;
  const server = createServer((request, response) => {
    const id = String(request.headers["bellhop-task-id"]);
    called.add(parseTaskId(id) ?? id);
    calls += 1;
    request.resume();
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/`,
    called,
    calls: () => calls,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

/** Those that have not ended in time. */
async function waitForEnds(pool: pg.Pool, accepted: readonly string[]): Promise<string[]> {
  const untilMs = performance.now() + CALM_MS;
  for (;;) {
    const { rows } = await pool.query<{ id: string }>("select id from tasks where status = 'completed'");
    const completed = new Set(rows.map(({ id }) => id));
    const open = accepted.filter((id) => !completed.has(id));
    if (open.length === 0 || performance.now() > untilMs) return open;
    await sleep(250);
  }
}
