import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { Time } from "../domain/time.ts";
import { createEngineMetrics } from "./engine-metrics.ts";
import { createHttpMetrics } from "./http-metrics.ts";
import { createQueueMetrics, type QueueDepth } from "./queue-metrics.ts";
import { createSeries } from "./series.ts";
import { createTaskMetrics } from "./task-metrics.ts";

/** The shown fields of a connection pool. */
export interface PoolUse {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  readonly options: { readonly max?: number };
}

export type Metrics = ReturnType<typeof createMetrics>;

/** The metrics of one node. No label names a team or a task. */
export function createMetrics(deps: {
  readonly version: string;
  readonly time: Time;
  readonly readDepths: () => Promise<readonly QueueDepth[]>;
  readonly readEventsBehindMs: () => Promise<number>;
}) {
  const registry = new Registry();
  const registers = [registry];
  const series = createSeries();
  /** Metrics that are the same for every process of an installation. */
  const common = new Registry();
  const queues = createQueueMetrics({ registry: common, ...deps });
  new Gauge({
    name: "bellhop_build_info",
    help: "Always 1; the labels say which version runs on which Node.",
    labelNames: ["version", "node"],
    registers,
  }).set({ version: deps.version, node: process.versions.node }, 1);

  async function renderOwn(): Promise<string> {
    return `${series.text()}\n${await textOf(registry)}`;
  }

  async function renderCommon(): Promise<string> {
    await queues.refresh();
    return textOf(common);
  }

  return {
    tasks: createTaskMetrics(series),
    engine: createEngineMetrics(series),
    ...createHttpMetrics(series),
    contentType: registry.contentType,
    async render(): Promise<string> {
      const texts = await Promise.all([renderOwn(), renderCommon()]);
      return texts.join("\n");
    },
    renderOwn,
    renderCommon,
    /** Memory, processor, event loop, file descriptors, garbage collection. Once in a process. */
    watchProcess(): void {
      collectDefaultMetrics({ register: registry });
    },
    watchCalls(underWay: () => number, capacity: number): void {
      new Gauge({
        name: "bellhop_calls_in_flight",
        help: "Calls of tasks under way on this node.",
        registers,
        collect() {
          this.set(underWay());
        },
      });
      new Gauge({
        name: "bellhop_calls_in_flight_max",
        help: "Calls that this node has under way at most.",
        registers,
      }).set(capacity);
    },
    watchStreams(open: () => number): void {
      new Gauge({
        name: "bellhop_event_streams",
        help: "Streams of events that are open on this node.",
        registers,
        collect() {
          this.set(open());
        },
      });
    },
    watchJson(waiting: () => number): void {
      new Gauge({
        name: "bellhop_json_jobs_waiting",
        help: "Large JSON texts that wait for a thread to read them.",
        registers,
        collect() {
          this.set(waiting());
        },
      });
    },
    watchPools(pools: ReadonlyMap<string, PoolUse>): void {
      new Gauge({
        name: "bellhop_database_connections",
        help: "Connections to PostgreSQL, by what they are for and whether a statement runs on them.",
        labelNames: ["pool", "state"],
        registers,
        collect() {
          for (const [pool, { totalCount, idleCount }] of pools) {
            this.set({ pool, state: "busy" }, totalCount - idleCount);
            this.set({ pool, state: "idle" }, idleCount);
          }
        },
      });
      const most = new Gauge({
        name: "bellhop_database_connections_max",
        help: "Connections to PostgreSQL that this node opens at most, by what they are for.",
        labelNames: ["pool"],
        registers,
      });
      for (const [pool, { options }] of pools) most.set({ pool }, options.max ?? 0);
      new Gauge({
        name: "bellhop_database_waiting",
        help: "Statements that wait for a connection, by what it is for.",
        labelNames: ["pool"],
        registers,
        collect() {
          for (const [pool, { waitingCount }] of pools) this.set({ pool }, waitingCount);
        },
      });
    },
  };
}

/** The metrics of a process without a node: memory, CPU, event loop. */
export function createProcessMetrics(): { render(): Promise<string> } {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return { render: () => textOf(registry) };
}

/** prom-client prints NaN for the mean of nothing when two scrapes coincide, which not every reader accepts. */
async function textOf(registry: Registry): Promise<string> {
  return (await registry.metrics()).replaceAll(/ Nan$/gm, " NaN");
}
