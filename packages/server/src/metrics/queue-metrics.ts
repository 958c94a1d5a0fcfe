import { Gauge, type Registry } from "prom-client";
import type { Time } from "../domain/time.ts";

/** Every queue name is a label, and teams create queues: the oldest names are shown, the others share one label. */
export const MOST_QUEUES = 100;
/** No queue can have this name. */
const REST = "_rest";
/** The database is queried at most this often, for any number of scrapes, */
const FRESH_MS = 5_000;
/** and is busy with it for at most a twentieth of the time: thousands of backlogged queues take half a second. */
const REST_FACTOR = 20;
/** Shorter than any scrape timeout: the other metrics matter more while the database is unreachable. */
const LONGEST_READ_MS = 2_500;

const STATES = ["pending", "active", "waiting", "polling"] as const;

/** All queues of one name, whichever team's; a null name stands for all that have none of their own. */
export interface QueueDepth extends Readonly<Record<(typeof STATES)[number], number>> {
  readonly queue: string | null;
  readonly oldestPendingSeconds: number;
}

/** How much waits in which queue, and for how long events wait: read from the database when it is asked for. */
export function createQueueMetrics(deps: {
  readonly registry: Registry;
  readonly time: Time;
  readonly readDepths: () => Promise<readonly QueueDepth[]>;
  readonly readEventsBehindMs: () => Promise<number>;
}) {
  const registers = [deps.registry];
  const tasks = new Gauge({
    name: "bellhop_queue_tasks",
    help: "Tasks of all queues of this name that have not ended, by state.",
    labelNames: ["queue", "state"],
    registers,
  });
  const oldest = new Gauge({
    name: "bellhop_queue_oldest_pending_seconds",
    help: "For how long the oldest pending task of these queues has been due; 0 if none is.",
    labelNames: ["queue"],
    registers,
  });
  const behind = new Gauge({
    name: "bellhop_events_behind_seconds",
    help: "For how long an open transaction has held back event streams and webhooks; 0 if none has for a second.",
    registers,
  });
  const isUp = new Gauge({
    name: "bellhop_database_up",
    help: "1 if the depths of the queues and the delay of events could be read, otherwise 0 and they are missing.",
    registers,
  });
  let freshUntilMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<boolean> | null = null;

  async function read(): Promise<boolean> {
    const beganMs = deps.time.monotonicMs();
    try {
      const [depths, behindMs] = await Promise.all([deps.readDepths(), deps.readEventsBehindMs()]);
      show(depths);
      behind.set(behindMs / 1000);
      const nowMs = deps.time.monotonicMs();
      freshUntilMs = nowMs + Math.max(FRESH_MS, (nowMs - beganMs) * REST_FACTOR);
      return true;
    } catch {
      // The engine's own statements tell the log what is wrong with the database.
      return false;
    } finally {
      reading = null;
    }
  }

  function show(depths: readonly QueueDepth[]): void {
    tasks.reset();
    oldest.reset();
    for (const depth of depths) {
      const queue = depth.queue ?? REST;
      for (const state of STATES) tasks.set({ queue, state }, depth[state]);
      oldest.set({ queue }, depth.oldestPendingSeconds);
    }
  }

  return {
    /** Brings the gauges up to date, or empties them if that cannot be done in time. */
    async refresh(): Promise<void> {
      if (deps.time.monotonicMs() < freshUntilMs) return;
      reading ??= read();
      const isKnown = await within(deps.time, LONGEST_READ_MS, reading);
      isUp.set(isKnown ? 1 : 0);
      if (isKnown) return;
      show([]);
      behind.remove();
    },
  };
}

/** False if it takes longer. */
function within(time: Time, ms: number, work: Promise<boolean>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = time.setTimer(() => resolve(false), ms);
    work.then((result) => {
      timer.cancel();
      resolve(result);
    });
  });
}
