import type { Time, Timer } from "../domain/time.ts";
import type { Sql } from "../store/sql.ts";
import { registerWorker, removeWorker, renewWorker } from "../store/tasks/workers.ts";
import type { Log } from "./log.ts";
import { type Loop, startLoop } from "./loop.ts";
import { type EngineMeter, NO_METER } from "./meter.ts";

/** No node takes anything from a worker that was heard of within this time. */
const TTL_MS = 15_000;
const RENEW_MS = 4_000;
/** The worker stops acting this much before others may start to: calls need time to be torn down. */
const MARGIN_MS = 3_000;

export interface Lease {
  readonly workerId: number;
  /** How many other workers were alive at the last renewal. */
  readonly peers: number;
  /** Whether calls may be sent now, by the process's own monotonic clock. Ask right before each send. */
  isHeld(): boolean;
  /** Registers; resolves once the first lease is held. */
  start(): Promise<void>;
  renewOnce(): Promise<number>;
  /** Ends the lease at once, so that no other node has to wait for it to run out. */
  stop(): Promise<void>;
}

/**
 * The worker's right to act. The race it guards against: this process is paused or cut off, others take its tasks,
 * and it wakes up still sending. So the deadline is counted on the monotonic clock, from before the renewal was sent.
 */
export function createLease(options: {
  readonly sql: Sql;
  readonly name: string;
  readonly time: Time;
  readonly log: Log;
  readonly meter?: EngineMeter;
  /** The deadline passed without a renewal, or the row is gone: everything in flight must be torn down. */
  readonly onLost: () => void;
  /** The lease is held again, perhaps under a new id: nothing held before can be relied on. */
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
