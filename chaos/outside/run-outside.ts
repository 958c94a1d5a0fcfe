import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, Fault, History } from "../checker/history.ts";
import type { Fate } from "../checker/outside/wishes.ts";
import { createApi } from "../rig/api.ts";
import { createAsking } from "../rig/asking.ts";
import { now } from "../rig/clock.ts";
import { openCluster } from "../rig/cluster.ts";
import { watchFragile } from "../rig/fragile.ts";
import { createGuardedTasks } from "../rig/guarded-tasks.ts";
import { watchLag } from "../rig/lag.ts";
import { startLatencies } from "../rig/latency.ts";
import { watchMachine } from "../rig/machine.ts";
import type { Node } from "../rig/node.ts";
import type { Plant } from "../rig/plants.ts";
import { createQueueClients } from "../rig/queue-clients.ts";
import { createRandom } from "../rig/random.ts";
import { rage, type Weather } from "../rig/storm.ts";
import { isRecord } from "../rig/task-requests.ts";
import { createOutsideLoad } from "./load.ts";

/** What happens to machines and their processes; the database serves all the time. */
const WEATHER: Weather = {
  processes: { kill: 6, "kill-several": 2, pause: 4, "pause-past-lease": 3, roll: 1 },
  database: {},
};
/** In which all that was accepted must have ended, and the last wave. */
const CALM_MS = 90_000;
const WAVE_MS = 30_000;
const AT_ONCE = 8;

export interface OutsideOptions {
  readonly distDir: string;
  readonly seconds: number;
  readonly nodes: number;
  readonly seed: number;
  readonly rate: number;
  readonly plant: Plant | null;
  readonly weather: Weather | null;
  readonly latencyMs: number | null;
  readonly say: (line: string) => void;
  readonly keepLogs: (directory: string) => Promise<void>;
}

/** Nodes are killed and frozen under a mix of all that limits and orders calls. Nothing is asked of the database. */
export async function runOutside(options: OutsideOptions): Promise<History> {
  const { say } = options;
  const cluster = await openCluster({ ...options, isWatched: false });
  const { nodes, target } = cluster;
  const random = createRandom(options.seed);
  const lag = watchLag();
  const machine = watchMachine();
  const latency = startLatencies(cluster.lines, createRandom(options.seed + 1), options.latencyMs);
  const api = createApi();
  const asking = createAsking(nodes, random.fork());
  const faults: Fault[] = [];
  const tasks = createGuardedTasks({ api, asking, random: random.fork(), target });
  const queues = createQueueClients(api, asking, random.fork());
  const load = createOutsideLoad({ queues, tasks, random: random.fork(), rate: options.rate });
  const fragile = watchFragile({ api, asking, random: random.fork(), target });
  try {
    await load.prepare();
    const beganAt = now();
    say(`storm: ${options.seconds} s, ${options.nodes} nodes, seed ${options.seed}`);
    const over = new AbortController();
    setTimeout(() => over.abort(), options.seconds * 1_000);
    const note = (fault: Fault) => void faults.push(fault);
    const work = [fragile.work(over.signal), load.work(over.signal)];
    await rage(
      { ...cluster, note },
      options.weather ?? options.plant?.weather ?? WEATHER,
      random.fork(),
      over.signal,
    );
    await Promise.all(work);
    const calmAt = now();
    say(`calm: waiting until everything has ended, ${CALM_MS / 1_000} s at most`);
    await settle(nodes, acceptedOf(api.answers), CALM_MS);
    await load.tryQueues();
    await settle(nodes, acceptedOf(api.answers), CALM_MS);
    say("last wave");
    await load.wave();
    const fates = await settle(nodes, acceptedOf(api.answers), WAVE_MS);
    await fragile.stop();
    const rest = { at: now(), tasks: [], notifications: [], records: [], undelivered: [], stats: [] };
    await Promise.all(nodes.map((node) => node.stop()));
    return {
      answers: api.answers,
      seen: target.seen,
      changes: [],
      faults,
      lives: nodes.flatMap(({ lives }) => lives),
      latencies: latency.latencies,
      lags: lag.lags,
      readers: [],
      receivers: [],
      spells: fragile.spells,
      breakers: fragile.breakers,
      crowded: machine.crowded,
      beganAt,
      calmAt,
      endedAt: now(),
      rest: { ...rest, orderedQueueId: null, fates },
    };
  } finally {
    lag.stop();
    machine.stop();
    latency.stop();
    await fragile.stop();
    await options.keepLogs(cluster.logDir);
    await cluster.stop();
  }
}

function acceptedOf(answers: readonly Answer[]): string[] {
  const stored = answers.filter(({ action, status }) => action === "create" && status === 201);
  return [...new Set(stored.flatMap(({ taskId }) => taskId ?? []))];
}

/** Asks for each task until it has ended, or the time is over. */
async function settle(nodes: readonly Node[], taskIds: readonly string[], forMs: number): Promise<Fate[]> {
  const api = createApi();
  const fates = new Map<string, Fate>();
  const untilMs = now() + forMs;
  let left = [...taskIds];

  async function look(): Promise<void> {
    for (let taskId = left.pop(); taskId !== undefined; taskId = left.pop()) {
      const node = nodes[fates.size % nodes.length] ?? nodes[0];
      if (node === undefined) return;
      const path = `/v1/tasks/${taskId}`;
      const { status, body } = await api.ask({ action: "read", node, method: "GET", path });
      if (status === 200 && isRecord(body))
        fates.set(taskId, {
          taskId,
          status: String(body.status),
          failureReason: typeof body.failure_reason === "string" ? body.failure_reason : null,
        });
      else if (status === 404) fates.set(taskId, { taskId, status: null, failureReason: null });
    }
  }

  for (;;) {
    await Promise.all(Array.from({ length: AT_ONCE }, look));
    left = taskIds.filter((taskId) => !hasEnded(fates.get(taskId)));
    if (left.length === 0 || now() > untilMs) return [...fates.values()];
    await sleep(500);
  }
}

function hasEnded(fate: Fate | undefined): boolean {
  return fate?.status === null || fate?.status === "completed" || fate?.status === "failed";
}
