import type { Time, Timer } from "../domain/time.ts";
import type { Sql } from "../store/sql.ts";
import { registerWorker, removeWorker, renewWorker } from "../store/tasks/workers.ts";
import type { Log } from "./log.ts";
import { type Loop, startLoop } from "./loop.ts";
import { type EngineMeter, NO_METER } from "./meter.ts";

/** No node takes tasks from a worker that renewed its lease within this time. */
const TTL_MS = 15_000;
const RENEW_MS = 4_000;
/** The worker stops acting this long before others may take over, because aborting calls takes time. */
const MARGIN_MS = 3_000;

export interface Lease {
  readonly workerId: number;
  /** The number of other live workers at the last renewal. */
  readonly peers: number;
  /** Whether calls may be sent now, by this process's monotonic clock. Check right before each send. */
  isHeld(): boolean;
  /** Registers the worker. Resolves once the first lease is held. */
  start(): Promise<void>;
  renewOnce(): Promise<number>;
  /** Ends the lease at once, so that other nodes need not wait until it expires. */
  stop(): Promise<void>;
}

/**
 * The worker's right to act. The race: this process is paused or disconnected, other nodes take its tasks, and it
 * resumes and still sends. So the deadline is counted on the monotonic clock, from before the renewal was sent.
 */
export function createLease(options: {
  readonly sql: Sql;
  readonly name: string;
  readonly time: Time;
  readonly log: Log;
  readonly meter?: EngineMeter;
  /** The deadline passed without a renewal, or the row is gone: all calls in flight must be aborted. */
  readonly onLost: () => void;
  /** The lease is held again, perhaps under a new id: earlier claims and slots are invalid. */
  readonly onHeld: () => void;
}): Lease {
  const { sql, log, time, meter = NO_METER } = options;
  let workerId = 0;
  let peers = 0;
  let deadlineMs = 0;
  let alarm: Timer | null = null;
  let loop: Loop | null = null;

  function extend(sentAtMs: number): void {
    const wasHeld = isHeld();
    deadlineMs = sentAtMs + TTL_MS - MARGIN_MS;
    alarm?.cancel();
    alarm = time.setTimer(lose, deadlineMs - time.monotonicMs());
    if (!wasHeld) options.onHeld();
  }

  function lose(): void {
    deadlineMs = 0;
    meter.leaseLost();
    log.warn({ worker: workerId }, "lease.lost");
    options.onLost();
  }

  async function register(): Promise<void> {
    const sentAtMs = time.monotonicMs();
    workerId = await registerWorker(sql, options.name, TTL_MS);
    extend(sentAtMs);
    log.info({ worker: workerId }, "lease.registered");
  }

  async function renewOnce(): Promise<number> {
    const sentAtMs = time.monotonicMs();
    const renewed = await renewWorker(sql, workerId, TTL_MS);
    if (renewed === null) {
      if (isHeld()) lose();
      await register();
    } else {
      peers = renewed.peers;
      meter.leaseRenewed();
      extend(sentAtMs);
    }
    return RENEW_MS;
  }

  function isHeld(): boolean {
    return time.monotonicMs() < deadlineMs;
  }

  return {
    get workerId() {
      return workerId;
    },
    get peers() {
      return peers;
    },
    isHeld,
    renewOnce,
    async start() {
      await register();
      await renewOnce();
      loop = startLoop({ name: "lease", once: renewOnce, time, log });
    },
    async stop() {
      await loop?.stop();
      alarm?.cancel();
      deadlineMs = 0;
      await removeWorker(sql, workerId).catch((error) => log.warn({ err: error }, "lease.not_returned"));
    },
  };
}
