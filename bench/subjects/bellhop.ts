import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { request } from "undici";
import { reachRunningServer } from "../../packages/server/src/postgres/running-server.ts";
import { benchScript, type RunningProcess, repositoryRoot, startProcess } from "../../tools/child-process.ts";
import { probeArgs } from "../probe-client.ts";
import { payloadFor, type RunningSubject, type Subject, type SubjectSetting } from "./subject.ts";

const apiKey = "bh_live_0123456789abcdefghijABCDEFGHIJ0123456789";
export const benchQueue = "bench";

export interface RunningBellhop extends RunningSubject {
  /** Of the database, if it was started apart. */
  databaseUrl: string;
  /** One request of the API; throws unless the answer is a success. */
  ask(method: "GET" | "POST", path: string, body?: unknown): Promise<unknown>;
}

/** As a user starts it first: one process, with the embedded database. */
export const bellhop: Subject = {
  name: "bellhop",
  start: (setting) => startBellhop({ ...setting, nodes: 1, ownDatabase: true }),
};

/** Another build to compare it with, for example that of an earlier commit. */
export function bellhopOf(name: string, main: string): Subject {
  return { name, start: (setting) => startBellhop({ ...setting, nodes: 1, ownDatabase: true, main }) };
}

export interface BellhopSetting extends SubjectSetting {
  nodes: number;
  /** Without one of its own it gets a PostgreSQL of the same binaries and settings, which the bench can write to as well. */
  ownDatabase: boolean;
  /** Further settings of the server. */
  env?: Record<string, string>;
  /** The build to start. Default: that of this checkout, or of `BENCH_BELLHOP_MAIN`. */
  main?: string;
  /** Requests a minute that its team is allowed; left out: any number. */
  requestsPerMinute?: number;
}

/** Another build can stand in, to compare two of them or to measure one while the checkout is being changed. */
const mainFile = () => process.env.BENCH_BELLHOP_MAIN ?? `${repositoryRoot}packages/server/dist/main.js`;

export async function startBellhop(setting: BellhopSetting): Promise<RunningBellhop> {
  const processes: RunningProcess[] = [];
  async function stop(): Promise<void> {
    for (const started of processes.splice(0).reverse()) await started.stop();
  }
  try {
    const database = setting.ownDatabase ? null : await startDatabase(setting);
    if (database !== null) processes.push(database);
    const nodes: RunningProcess[] = [];
    for (let number = 1; number <= setting.nodes; number++) {
      const node = await startNode(setting, database?.readyAt ?? "", number);
      processes.push(node);
      nodes.push(node);
    }
    const running: RunningBellhop = {
      pids: nodes.map(({ pid }) => pid),
      ...(database === null ? {} : { databasePid: database.pid }),
      databaseUrl: database?.readyAt ?? "",
      database: database?.readyAt ?? (await reachRunningServer(setting.dataDir)),
      ...(setting.nodes === 1 && { probed: { pid: nodes[0]?.pid ?? 0, logFile: `${setting.logFile}.1` } }),
      submitUrls: nodes.map(({ readyAt }) => `${readyAt}/v1/tasks`),
      headers: { authorization: `Bearer ${apiKey}` },
      bodyFor: (seq, targetUrl) =>
        JSON.stringify({ queue: benchQueue, webhook_url: targetUrl, payload: payloadFor(seq) }),
      ask: (method, path, body) => ask(`${nodes[0]?.readyAt}${path}`, method, body),
      stop,
    };
    await running.ask("POST", "/v1/queues", { name: benchQueue, concurrency: setting.concurrency });
    if (setting.requestsPerMinute !== undefined)
      await limitRequests(running, setting, setting.requestsPerMinute);
    return running;
  } catch (error) {
    await stop();
    throw error;
  }
}

function startDatabase({ dataDir, logFile }: SubjectSetting): Promise<RunningProcess> {
  return startProcess({
    name: "postgres",
    args: benchScript("postgres-server"),
    env: { BENCH_DATA_DIR: dataDir },
    logFile: `${logFile}.postgres`,
  });
}

async function limitRequests(
  running: RunningBellhop,
  { dataDir }: BellhopSetting,
  perMinute: number,
): Promise<void> {
  const { team } = (await running.ask("GET", "/v1/me")) as { team: { id: string } };
  const args = ["team", "plan", team.id, "enterprise", "--per-minute", String(perMinute)];
  await promisify(execFile)(process.execPath, [`${dirname(mainFile())}/cli/bellhop.js`, ...args], {
    env: { ...process.env, DATABASE_URL: running.databaseUrl, BELLHOP_DATA_DIR: dataDir },
  });
}

function startNode(setting: BellhopSetting, databaseUrl: string, number: number): Promise<RunningProcess> {
  return startProcess({
    name: `bellhop ${number}`,
    args: [...probeArgs, setting.main ?? mainFile()],
    env: {
      PORT: "0",
      HOST: "127.0.0.1",
      // Empty counts as unset: the embedded database, whatever the shell of the operator says.
      DATABASE_URL: databaseUrl,
      BELLHOP_DATA_DIR: setting.dataDir,
      BELLHOP_API_KEY: apiKey,
      // Like the skeleton and the others, whatever the machine has.
      BELLHOP_PROCESSES: "1",
      // The skeleton writes no log; BENCH_LOG_LEVEL=info shows what the log of every request and attempt costs.
      LOG_LEVEL: process.env.BENCH_LOG_LEVEL ?? "warn",
      ...setting.env,
    },
    logFile: `${setting.logFile}.${number}`,
  });
}

async function ask(url: string, method: "GET" | "POST", body: unknown): Promise<unknown> {
  const answer = await request(url, {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`bellhop refused ${url}: ${answer.statusCode} ${text}`);
  return JSON.parse(text);
}
