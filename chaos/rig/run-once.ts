import { setTimeout as sleep } from "node:timers/promises";
import type { Fault, History, QueueStats, Rest } from "../checker/history.ts";
import type { Leak } from "../checker/vault-record.ts";
import { type Api, createApi } from "./api.ts";
import { createAsking } from "./asking.ts";
import { leaksInDatabase, leaksInLogs } from "./canaries.ts";
import {
  countUnfinished,
  readChangeLog,
  readNotifications,
  readQueues,
  readTasks,
  readUndelivered,
} from "./change-log.ts";
import { createClients } from "./clients.ts";
import { now } from "./clock.ts";
import { type Cluster, openCluster } from "./cluster.ts";
import { watchDisk } from "./disk.ts";
import { watchFragile } from "./fragile.ts";
import { watchLag } from "./lag.ts";
import { startLatencies } from "./latency.ts";
import { NO_RULE } from "./line.ts";
import { watchMachine } from "./machine.ts";
import type { Plant } from "./plants.ts";
import { createRandom } from "./random.ts";
import { readDelivery } from "./receiver.ts";
import { readRecords } from "./records.ts";
import { createSandboxClients } from "./sandbox-clients.ts";
import { ALL_WEATHER, rage, type Weather } from "./storm.ts";
import { isRecord, MIX } from "./task-requests.ts";
import { createVaultClients } from "./vault-clients.ts";
import { findUnsealed, rotateVault } from "./vault-rotation.ts";
import { createWitnesses } from "./witnesses.ts";

/** For so much of the storm there is no reader and no webhook. */
const UNHEARD_SHARE = 0.2;

export interface RunOptions {
  /** The built server. */
  readonly distDir: string;
  readonly seconds: number;
  readonly nodes: number;
  readonly seed: number;
  readonly rate: number;
  readonly plant: Plant | null;
  readonly weather: Weather | null;
  /** Of every round trip to the database; null: drawn for each node, again and again. */
  readonly latencyMs: number | null;
  /** How long everything may take to end once the faults are over. */
  readonly calmSeconds: number;
  readonly say: (line: string) => void;
  /** Given the directory of the logs before it is removed. */
  readonly keepLogs: (directory: string) => Promise<void>;
}

/** Starts everything, lets it storm, waits until it is calm, and brings the history home. */
export async function runOnce(options: RunOptions): Promise<History> {
  const { say } = options;
  const cluster = await openCluster({ ...options, isWatched: true });
  const lag = watchLag();
  const disk = watchDisk(cluster.postgres);
  const machine = watchMachine();
  // By chance of its own: without it the same seed draws the same faults.
  const latency = startLatencies(cluster.lines, createRandom(options.seed + 1), options.latencyMs);
  try {
    const random = createRandom(options.seed);
    const leaks: Leak[] = [];
    const api = createApi(leaks);
    const faults: Fault[] = [];
    const clients = createClients({
      api,
      nodes: cluster.nodes,
      random: random.fork(),
      target: cluster.target,
      neighbour: cluster.teams.neighbour.key,
      mix: MIX,
      rate: options.rate,
    });
    const sandbox = createSandboxClients({
      api,
      asking: createAsking(cluster.nodes, random.fork()),
      random: random.fork(),
      target: cluster.target.url,
    });
    const vault = createVaultClients({
      api,
      asking: createAsking(cluster.nodes, random.fork()),
      random: random.fork(),
      target: cluster.target.url,
      teams: cluster.teams,
    });
    await clients.prepare();
    await sandbox.prepare();
    await vault.prepare();
    const fragile = watchFragile({
      api,
      asking: createAsking(cluster.nodes, random.fork()),
      random: random.fork(),
      target: cluster.target,
    });
    const witnesses = await createWitnesses({ api, ...cluster, random: random.fork() });
    // Teams, keys and queues are not what a crash of a careless database is to be seen by.
    await cluster.postgres.query("checkpoint");
    const beganAt = now();
    say(`storm: ${options.seconds} s, ${options.nodes} nodes, seed ${options.seed}`);

    const over = new AbortController();
    const working = new AbortController();
    setTimeout(() => over.abort(), options.seconds * 1000);
    const progress = setInterval(() => say(describe(api, cluster, faults, beganAt)), 10_000);
    const note = (fault: Fault) => void faults.push(fault);
    const weather = options.weather ?? options.plant?.weather ?? ALL_WEATHER;
    const storm = rage({ ...cluster, note }, weather, random.fork(), over.signal);
    const isRotated = options.weather === null && options.plant === null;
    const rotation = isRotated
      ? rotateVault(cluster, { seconds: options.seconds, random: random.fork(), note })
      : Promise.resolve();
    const work = Promise.all([
      clients.work(working.signal, rotation),
      ...[fragile, sandbox, vault].map((each) => each.work(working.signal)),
    ]);
    // Before that nobody listens: what is done then takes another way through the server.
    const listening = sleep(options.seconds * 1000 * UNHEARD_SHARE).then(witnesses.start);
    await Promise.all([storm, sleep(options.seconds * 1000)]);
    working.abort();
    for (const line of cluster.lines) line.set(NO_RULE);
    await Promise.all([work, listening]);
    const calmAt = now();
    say(`calm: waiting until everything has ended, ${options.calmSeconds} s at most`);
    const isCalm = await waitForCalm(cluster, options.calmSeconds, say);
    const ordered = isCalm ? await clients.tryOrder() : null;
    if (ordered !== null) {
      await clients.tryFragile();
      // The last task of the witnesses must end after all others.
      await waitForCalm(cluster, options.calmSeconds, say);
      await witnesses.finish(clients);
      await waitForCalm(cluster, options.calmSeconds, say);
    }
    clearInterval(progress);
    await witnesses.stop();
    await fragile.stop();
    const simulated = await sandbox.settle();

    const rest = await readRest(cluster, api, ordered, leaks);
    const unsealed = isRotated ? await findUnsealed(cluster.postgres) : [];
    await Promise.all(cluster.nodes.map((node) => node.stop()));
    leaks.push(...(await leaksInDatabase(cluster.postgres)), ...(await leaksInLogs(cluster.logDir)));
    await disk.stop();
    return {
      answers: api.answers,
      seen: cluster.target.seen,
      changes: await readChangeLog(cluster.postgres),
      faults,
      lives: cluster.nodes.flatMap(({ lives }) => lives),
      latencies: latency.latencies,
      lags: [...lag.lags, ...disk.lags.filter(({ at, ms }) => !wasDatabaseHit(at - ms, at, faults))],
      beganAt,
      readers: witnesses.readers,
      receivers: witnesses.receivers,
      spells: fragile.spells,
      breakers: fragile.breakers,
      sandbox: simulated,
      vault: { tokens: vault.tokens, tasks: vault.tasks, leaks, unsealed },
      crowded: machine.crowded,
      calmAt,
      endedAt: now(),
      rest,
    };
  } finally {
    lag.stop();
    machine.stop();
    latency.stop();
    await disk.stop();
    await options.keepLogs(cluster.logDir);
    await cluster.stop();
  }
}

/** For a while after it has come back, too: it has a log to replay and connections to take. */
function wasDatabaseHit(from: number, to: number, faults: readonly Fault[]): boolean {
  return faults.some(
    (fault) => fault.kind.startsWith("database-") && fault.from <= to && fault.to + 2_000 >= from,
  );
}

/** Twice in a row: a task may be between two of its states. */
async function waitForCalm(cluster: Cluster, seconds: number, say: (line: string) => void): Promise<boolean> {
  const untilMs = now() + seconds * 1000;
  let quiet = 0;
  let left = "";
  while (now() < untilMs) {
    const counts = Object.entries(await countUnfinished(cluster.postgres)).filter(([, count]) => count > 0);
    quiet = counts.length === 0 ? quiet + 1 : 0;
    if (quiet === 2) return true;
    left = counts.map(([name, count]) => `${count} ${name}`).join(", ");
    await sleep(250);
  }
  say(`not calm after ${seconds} s: ${left}`);
  return false;
}

async function readRest(
  { postgres, nodes, teams }: Cluster,
  api: Api,
  ordered: string | null,
  leaks: Leak[],
): Promise<Rest> {
  const queues = (await readQueues(postgres)).filter(({ deleted }) => !deleted);
  const [node] = nodes;
  if (node === undefined) throw new Error("There is no node to ask");
  const told = await api.ask({ action: "read", node, method: "GET", path: "/v1/queues" });
  const list = isRecord(told.body) && Array.isArray(told.body.queues) ? told.body.queues : [];
  const stats = list.flatMap((entry: unknown): QueueStats[] => {
    const queue = isRecord(entry) ? queues.find(({ name }) => name === entry.name) : undefined;
    if (queue === undefined || !isRecord(entry)) return [];
    return [{ queueId: queue.id, name: queue.name, counts: entry.stats as QueueStats["counts"] }];
  });
  const tasks = await readTasks(postgres);
  return {
    at: now(),
    tasks,
    records: await readRecords(node, tasks, Object.values(teams), leaks),
    undelivered: (await readUndelivered(postgres)).map(readDelivery),
    notifications: await readNotifications(postgres),
    stats,
    orderedQueueId: queues.find(({ name }) => name === ordered)?.id ?? null,
  };
}

function describe(api: Api, { target }: Cluster, faults: readonly Fault[], beganAt: number): string {
  const seconds = ((now() - beganAt) / 1000).toFixed(0).padStart(4);
  return `${seconds} s: ${api.answers.length} requests, ${target.seen.length} calls seen, ${faults.length} faults`;
}
