import { breakerHost, type HostReport, targetState } from "../domain/breaker.ts";
import type { Claim } from "../domain/claim.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { Time, Timer } from "../domain/time.ts";
import type { Database } from "../store/sql.ts";
import { countSuccesses } from "../store/tasks/breaker-counts.ts";
import type { BreakerKey } from "../store/tasks/breakers.ts";
import type { LocalQueues } from "./local-queues.ts";
import type { Log } from "./log.ts";

/** Successes that change no breaker are counted together for this long. */
const COUNT_MS = 1_000;

export interface HostAttempts {
  /** Attempts of the queue are counted from now on, as long as it has a breaker. */
  watch(queueId: number): void;
  /** What the attempt says about its host; null: no breaker counts it. */
  report(claim: Claim, outcome: Outcome): HostReport | null;
  /** An attempt whose report is not urgent was settled. */
  succeeded(claim: Claim, report: HostReport): void;
  /** Resolves once all are counted. */
  drained(): Promise<void>;
}

/**
 * The attempts of this node to hosts of queues with a breaker. Failures, and whatever ends while the queue holds a host back, are
 * urgent. Other successes only lower the ratio: if the node dies, those of the last second are missing.
 */
export function createHostAttempts(deps: {
  readonly database: Database;
  readonly localQueues: Pick<LocalQueues, "find">;
  readonly time: Time;
  readonly log: Log;
}): HostAttempts {
  const { database, time } = deps;
  /** The queues with a breaker: for any other, an attempt costs one look into a set. */
  const watched = new Set<number>();
  let counts = new Map<string, BreakerKey & { total: number }>();
  let timer: Timer | null = null;
  let writing: Promise<void> | null = null;

  async function write(): Promise<void> {
    while (counts.size > 0) {
      const taken = [...counts.values()];
      counts = new Map();
      await countSuccesses(database, taken);
    }
  }

  function flush(): void {
    timer?.cancel();
    timer = null;
    writing ??= write()
      .catch((err) => deps.log.warn({ err }, "breaker.not_counted"))
      .finally(() => {
        writing = null;
        // The count failed. Later results are counted soon: if they waited for the next success, they would count as of that time.
        if (counts.size > 0) countSoon();
      });
  }

  function countSoon(): void {
    timer ??= time.setTimer(flush, COUNT_MS);
  }

  return {
    watch: (queueId) => watched.add(queueId),
    report({ teamId, queueId, queue, call }, outcome) {
      if (watched.size === 0 || !watched.has(queueId)) return null;
      const grant = deps.localQueues.find(teamId, queue)?.grant;
      if (grant?.breaker == null || grant.queueId !== queueId) return null;
      const state = targetState(outcome);
      const host = state === null ? null : breakerHost(call.url);
      if (host === null) return null;
      const isUp = state === "up";
      const isUrgent = !isUp || grant.holdsHosts;
      // The successes before it are soon known too.
      if (isUrgent && counts.size > 0) flush();
      return { host, isUp, isUrgent };
    },
    succeeded({ teamId, queueId }, { host }) {
      const key = `${queueId} ${host}`;
      const counted = counts.get(key) ?? { teamId, queueId, host, total: 0 };
      counted.total += 1;
      counts.set(key, counted);
      countSoon();
    },
    async drained() {
      if (counts.size > 0) flush();
      await writing;
    },
  };
}
