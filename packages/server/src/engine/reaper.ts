import type { Time } from "../domain/time.ts";
import type { Sql } from "../store/sql.ts";
import { heldNotifications } from "../store/tasks/notifications.ts";
import { REAP_BATCH, type Returned, reapPolls, reapTasks } from "../store/tasks/task-returns.ts";
import { heldDeliveries } from "../store/tasks/webhook-deliveries.ts";
import { databaseClockMs, removeExpiredWorkers } from "../store/tasks/workers.ts";
import type { DatabaseClock } from "./database-clock.ts";
import type { Followers } from "./followers.ts";
import type { Log } from "./log.ts";
import { type EngineMeter, NO_METER } from "./meter.ts";
import { LEAN, type RoundCost } from "./round-cost.ts";

const ROUND_MS = 2_000;
export const REAPER_COST: RoundCost = { rows: REAP_BATCH, bytes: REAP_BATCH * LEAN, turns: "oldest first" };
/** A difference this large between the two clocks over one round is a jump, not drift. */
const STEP_MS = 3_000;
/** After a jump every worker gets this time to renew by the new clock. */
const GRACE_MS = 20_000;
/**
 * Longer than a live worker takes to renew, shorter than a lease: a restart does not delay the release of the old
 * process's tasks.
 */
const WATCH_MS = 6_000;

export interface Reaper {
  /** Releases the tasks of dead workers. Returns the milliseconds until the next round. */
  reapOnce(): Promise<number>;
  /** This node has just started and cannot know whether the clock jumped before: every worker may renew first. */
  watchFirst(): void;
}

/**
 * Any node may reap for all. The danger is a database clock that jumps ahead and makes every worker look dead. So its
 * advance is compared with the monotonic clock between rounds, and after a jump no worker is removed for a while.
 */
export function createReaper(deps: {
  readonly sql: Sql;
  readonly workerId: () => number;
  readonly time: Time;
  readonly clock: DatabaseClock;
  readonly log: Log;
  readonly meter?: EngineMeter;
  readonly followers: Pick<Followers, "returning">;
  readonly onReturned: (returned: readonly Returned[]) => void;
}): Reaper {
  const { sql, log, time, meter = NO_METER } = deps;
  let last: { databaseMs: number; monotonicMs: number } | null = null;
  let graceUntilMs = 0;

  async function isClockSteady(): Promise<boolean> {
    const now = { databaseMs: await databaseClockMs(sql), monotonicMs: time.monotonicMs() };
    deps.clock.learn(now.databaseMs);
    if (last !== null) {
      const stepMs = now.databaseMs - last.databaseMs - (now.monotonicMs - last.monotonicMs);
      if (Math.abs(stepMs) > STEP_MS) {
        log.warn({ stepMs: Math.round(stepMs) }, "clock.stepped");
        graceUntilMs = now.monotonicMs + GRACE_MS;
      }
    }
    const known = last !== null;
    last = now;
    return known && now.monotonicMs >= graceUntilMs;
  }

  return {
    watchFirst() {
      graceUntilMs = time.monotonicMs() + WATCH_MS;
    },
    async reapOnce() {
      if (await isClockSteady()) {
        const dead = await removeExpiredWorkers(sql);
        if (dead.length > 0) log.warn({ workers: dead }, "workers.died");
      }
      while ((await reapPolls(sql)) === REAP_BATCH);
      await heldNotifications.reap(sql);
      await heldDeliveries.reap(sql);
      for (let isMore = true; isMore; ) {
        const returned = await deps.followers.returning((within) => reapTasks(within, deps.workerId()));
        isMore = returned.length === REAP_BATCH;
        if (returned.length === 0) continue;
        log.warn({ tasks: returned.length }, "tasks.reaped");
        meter.reaped(returned.length);
        deps.onReturned(returned);
      }
      return ROUND_MS;
    },
  };
}
