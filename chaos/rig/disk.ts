import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Lag } from "../checker/history.ts";
import { now } from "./clock.ts";
import type { Postgres } from "./postgres.ts";

const BEAT_MS = 100;
/** A commit that takes longer waits for a disk or a processor that others use. */
const NOTED_MS = 200;

/**
 * Commits something small all the time, past every proxy and without Bellhop: what is slow here is the machine. Faults
 * of the database itself are no excuse; the caller leaves out what was noted during them.
 */
export function watchDisk(postgres: Postgres): { readonly lags: Lag[]; stop(): Promise<void> } {
  const lags: Lag[] = [];
  let stopped = false;

  async function beat(): Promise<void> {
    const client = new pg.Client({ ...postgres.connection, connectionTimeoutMillis: 5_000 });
    client.on("error", () => {});
    try {
      await client.connect();
      while (!stopped) {
        const beganAt = now();
        await client.query("update chaos.pulse set beats = beats + 1");
        if (now() - beganAt > NOTED_MS) lags.push({ at: now(), ms: now() - beganAt });
        await sleep(BEAT_MS);
      }
    } catch {
      // The database is away: that is a fault, and will pass.
      await sleep(BEAT_MS);
    } finally {
      await client.end().catch(() => {});
    }
  }

  const running = (async () => {
    while (!stopped) await beat();
  })();
  return {
    lags,
    async stop() {
      stopped = true;
      await running;
    },
  };
}
