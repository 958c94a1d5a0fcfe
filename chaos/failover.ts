import { chmodSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { createServer, type Server as HttpServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseTaskId } from "../packages/server/src/domain/task-id.ts";
import { endAtExit } from "../tools/ending.ts";
import { freePort } from "../tools/free-port.ts";
import { API_KEY } from "./rig/api.ts";
import { createNode, type Node } from "./rig/node.ts";
import { createPair, type Server } from "./rig/pair.ts";
import { copyServer } from "./rig/plants.ts";

/** How long whatever promotes the standby takes to decide to. */
const DECISION_MS = 500;
/** In which nodes must be back after the promotion. */
const BACK_MS = 10_000;
/** In which all that was accepted must have ended: a lease, its reaping, a retry. */
const CALM_MS = 60_000;
const CLIENTS = 8;

export interface FailoverOptions {
  /** What becomes of the primary: its host loses power, or hangs and comes to when another has taken over. */
  readonly how: "kill" | "freeze";
  readonly distDir: string;
  readonly nodes: number;
  /** Whether the former primary comes back at the end, still willing to be written to. */
  readonly comesBack: boolean;
  /** Of load before the failover, and again after it. */
  readonly seconds: number;
  readonly say: (line: string) => void;
}

export interface FailoverVerdict {
  readonly violations: readonly string[];
  readonly lines: readonly string[];
}

interface Told {
  readonly node: number;
  readonly at: number;
  readonly status: number | null;
  readonly id: string | null;
}

/**
 * Real nodes on a replicated pair of PostgreSQL servers. Under load the primary is killed and the standby promoted; then
 * the former primary comes back, still willing to be written to, as it would after a power cut.
 */
export async function runFailover(options: FailoverOptions): Promise<FailoverVerdict> {
  const directory = await mkdtemp(join(tmpdir(), "bellhop-failover-"));
  chmodSync(directory, 0o755);
  endAtExit(() => rmSync(directory, { recursive: true, force: true }));
  // First what may be missing: a pair that was started must be ended.
  const main = await copyServer(options.distDir, join(directory, "server"), null);
  const { first, second } = await createPair(directory);
  const target = await startTarget();
  const nodes: Node[] = [];
  for (let index = 1; index <= options.nodes; index += 1) {
    const env = settingsFor([first, second]);
    const logFile = join(directory, `node-${index}.log`);
    nodes.push(createNode({ index, main, port: await freePort(), env, logFile }));
  }
  try {
    await Promise.all(nodes.map((node) => node.start()));
    return await failOver({ ...options, first, second, nodes, target });
  } finally {
    await Promise.all(nodes.map((node) => node.kill()));
    await Promise.all([first.kill(), second.kill()]);
    target.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Scene extends Omit<FailoverOptions, "nodes"> {
  readonly first: Server;
  readonly second: Server;
  readonly nodes: readonly Node[];
  readonly target: Target;
}

async function failOver(scene: Scene): Promise<FailoverVerdict> {
  const { how, first, second, nodes, target, seconds, comesBack, say } = scene;
  const load = startLoad(nodes, target.url);
  const fences = watchFences(first);
  await sleep(seconds * 1000);

  say(how === "kill" ? "kill -9 of the primary" : "the primary is frozen");
  const killedAt = performance.now();
  if (how === "kill") await first.kill();
  else first.freeze();
  await sleep(DECISION_MS);
  await second.query("select pg_promote(true)");
  const promotedAt = performance.now();
  const [promotion] = await second.query<{ at: Date }>("select clock_timestamp() as at");
  say(`the standby was promoted ${ms(promotedAt - killedAt)} later`);
  fences.stop();
  const backwards = await fences.compareWith(second);
  const isBack = (node: Node) =>
    load.told.some((told) => told.node === node.index && told.status === 201 && told.at > promotedAt);
  while (!nodes.every(isBack) && performance.now() - promotedAt < BACK_MS) await sleep(20);
  const back = nodes.map((node) => firstGood(load.told, node.index, promotedAt) - promotedAt);

  const strays = comesBack ? await comeBack(scene, promotion?.at ?? new Date()) : [];
  await load.stop();

  const accepted = load.told.flatMap(({ id }) => id ?? []);
  const astray = strays.filter((id) => accepted.includes(id)).length;
  const unended = await waitForEnds(second, accepted);
  const outage = longestGap(load.told);
  const violations = [
    ...unended.map((id) => `accepted and not completed: ${id}`),
    ...backwards,
    ...target.disorders(),
    ...back.flatMap((backMs, index) =>
      backMs > BACK_MS ? [`node ${index + 1} was not back ${ms(BACK_MS)} after the promotion`] : [],
    ),
    ...(astray > 0 ? [`${astray} tasks were accepted on the former primary`] : []),
  ];
  return {
    violations,
    lines: [
      `tasks      ${accepted.length} accepted, ${accepted.length - unended.length} completed`,
      `refused    ${load.told.filter(({ status }) => status !== 201).length} of ${load.told.length} requests, to be repeated by their clients`,
      `fences     ${fences.count} tasks watched, ${backwards.length} went backwards or got lost`,
      `promotion  ${ms(promotedAt - killedAt)} after the fault, of which ${ms(DECISION_MS)} waited for`,
      `nodes back ${back.map(ms).join(", ")} after the promotion`,
      `outage     ${ms(outage)} without a 201 from any node`,
      ...(comesBack
        ? [
            `afterwards ${astray} tasks accepted by the former primary when it came back and could be written to; ` +
              `${strays.length} that it found unread in its connections and answered to nobody`,
          ]
        : []),
    ],
  };
}

/**
 * The former primary comes back, and waits for no standby any more. Returns the tasks that it has stored since: from what
 * was sent to it while it was frozen there may be some, but no client got a success for them.
 */
async function comeBack({ how, first, nodes, seconds, say }: Scene, promotedAt: Date): Promise<string[]> {
  say("the former primary comes back, and can be written to");
  if (how === "kill") await first.start({ synchronous_standby_names: "" });
  else {
    first.thaw();
    await first.query("alter system set synchronous_standby_names = ''");
    await first.query("select pg_reload_conf()");
  }
  await nodes[0]?.kill();
  await nodes[0]?.start();
  await sleep(seconds * 1000);
  const rows = await first.query<{ id: string }>("select id from tasks where created_at > $1", [promotedAt]);
  return rows.map(({ id }) => id);
}

function settingsFor(servers: readonly Server[]): Record<string, string> {
  const hosts = servers.map(({ port }) => `127.0.0.1:${port}`).join(",");
  return {
    HOST: "127.0.0.1",
    DATABASE_URL: `postgres://bellhop@${hosts}/bellhop?target_session_attrs=read-write`,
    BELLHOP_API_KEY: API_KEY,
    BELLHOP_EGRESS: "public",
    // Nothing else: a run never calls out of this machine.
    BELLHOP_EGRESS_ALLOW: "127.0.0.1",
    LOG_LEVEL: "info",
  };
}

/** Clients that ask one node after the other, each request after the answer to the last. */
function startLoad(nodes: readonly Node[], targetUrl: string) {
  const told: Told[] = [];
  let stopped = false;
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let turn = client; !stopped; turn += 1) {
      const node = nodes[turn % nodes.length];
      if (node === undefined) return;
      const { status, id } = await submit(node, targetUrl);
      told.push({ node: node.index, at: performance.now(), status, id });
      await sleep(status === 201 ? 10 : 100);
    }
  });
  return {
    told,
    async stop() {
      stopped = true;
      await Promise.all(clients);
    },
  };
}

async function submit(node: Node, targetUrl: string): Promise<{ status: number | null; id: string | null }> {
  try {
    const answer = await fetch(`${node.url}/v1/tasks`, {
      method: "POST",
      headers: { authorization: `Bearer ${API_KEY}`, "content-type": "application/json" },
      body: JSON.stringify({ queue: "default", webhook_url: targetUrl, max_retries: 5 }),
      signal: AbortSignal.timeout(12_000),
    });
    const body: unknown = await answer.json();
    const id =
      typeof body === "object" && body !== null && "id" in body ? parseTaskId(String(body.id)) : null;
    return { status: answer.status, id: answer.status === 201 ? id : null };
  } catch {
    return { status: null, id: null };
  }
}

/** Looks at every fence again and again: what anybody has seen must still hold on the other server. */
function watchFences(server: Server) {
  const seen = new Map<string, number>();
  let stopped = false;
  const read = (from: Server) => from.query<{ id: string; fence: number }>("select id, fence from tasks");
  void (async () => {
    while (!stopped) {
      const rows = await read(server).catch(() => []);
      if (stopped) return;
      for (const { id, fence } of rows) seen.set(id, Math.max(fence, seen.get(id) ?? 0));
      await sleep(50);
    }
  })();
  return {
    get count() {
      return seen.size;
    },
    stop() {
      stopped = true;
    },
    async compareWith(other: Server): Promise<string[]> {
      const now = new Map((await read(other)).map(({ id, fence }) => [id, fence]));
      return [...seen].flatMap(([id, fence]) => {
        const found = now.get(id);
        if (found === undefined) return [`seen on the primary and lost: ${id}`];
        return found < fence ? [`fence of ${id} went from ${fence} back to ${found}`] : [];
      });
    },
  };
}

type Target = Pick<HttpServer, "close"> & { readonly url: string; disorders(): string[] };

/** Answers everything, and notes which attempt of each task came when. */
async function startTarget(): Promise<Target> {
  const attempts = new Map<string, number[]>();
  const server = createServer((request, response) => {
    const { "bellhop-task-id": task, "bellhop-attempt": attempt } = request.headers;
    const list = attempts.get(String(task)) ?? [];
    attempts.set(String(task), [...list, Number(attempt)]);
    request.resume();
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: (done) => server.close(done),
    disorders: () =>
      [...attempts].flatMap(([task, list]) =>
        list.some((attempt, index) => index > 0 && attempt <= (list[index - 1] ?? 0))
          ? [`${task} was called as attempt ${list.join(", then ")}`]
          : [],
      ),
  };
}

async function waitForEnds(server: Server, accepted: readonly string[]): Promise<string[]> {
  const untilMs = performance.now() + CALM_MS;
  for (;;) {
    const rows = await server.query<{ id: string }>("select id from tasks where status = 'completed'");
    const completed = new Set(rows.map(({ id }) => id));
    const open = accepted.filter((id) => !completed.has(id));
    if (open.length === 0 || performance.now() > untilMs) return open;
    await sleep(250);
  }
}

function firstGood(told: readonly Told[], node: number, since: number): number {
  const good = told.find((each) => each.node === node && each.status === 201 && each.at > since);
  return good?.at ?? Number.POSITIVE_INFINITY;
}

function longestGap(told: readonly Told[]): number {
  const times = told.filter(({ status }) => status === 201).map(({ at }) => at);
  times.sort((one, other) => one - other);
  return Math.max(0, ...times.map((at, index) => at - (times[index - 1] ?? at)));
}

function ms(value: number): string {
  return `${(value / 1000).toFixed(1)} s`;
}
