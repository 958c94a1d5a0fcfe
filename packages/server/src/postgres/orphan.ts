import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import type { Log } from "./log.ts";
import { DataDirInUse } from "./owner-lock.ts";
import { type Passwords, readPasswords } from "./passwords.ts";
import {
  clearPostmasterPid,
  isPostmasterOf,
  type PostmasterPid,
  readPostmasterPid,
  stopPostmaster,
} from "./postmaster.ts";
import { adminConnectionTo, removeSocketDir } from "./socket-dir.ts";

const TIMEOUT_MS = 2_000;
/** An idle backend exits as soon as its client is dead; a busy machine may need a moment. */
const PATIENCE_MS = 3_000;
const RETRY_MS = 25;

/**
 * Handles the postmaster of a killed Bellhop. It is stopped, not adopted: it may be of an older version or have other
 * settings, and it is not our child. The caller holds the owner's lock, so no other Bellhop should run here. If that
 * lock could not be held, or its file was removed, the postmaster's connections tell: a running Bellhop always keeps an
 * idle one, and then this start must fail.
 */
export async function clearOrphan(dataDir: string, pgdata: string, log: Log): Promise<void> {
  const left = await readPostmasterPid(pgdata);
  if (left === null) return;
  if (await isPostmasterOf(left.pid, pgdata)) {
    if (await servesBellhop(left, await readPasswords(dataDir)))
      throw new DataDirInUse(dataDir, { pid: null, host: null });
    log("postgres.orphan_found", { pid: left.pid, pgdata });
    const signal = await stopPostmaster(left.pid, () => isPostmasterOf(left.pid, pgdata));
    log("postgres.orphan_stopped", { pid: left.pid, signal });
  }
  await clearPostmasterPid(pgdata);
  await removeSocketDir(left.socketDir);
}

/** False if it refuses us: starting, stopping, stuck, its socket gone, or our passwords lost. Then it serves no Bellhop. */
async function servesBellhop({ socketDir, port }: PostmasterPid, known: Passwords | null): Promise<boolean> {
  if (known === null) return false;
  const client = new Client({
    ...adminConnectionTo(socketDir, known, port),
    ssl: false,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    for (
      const deadline = performance.now() + PATIENCE_MS;
      performance.now() < deadline;
      await sleep(RETRY_MS)
    ) {
      const { rows } = await client.query(
        "select 1 from pg_stat_activity where application_name like 'bellhop-%' and state = 'idle' limit 1",
      );
      if (rows.length === 0) return false;
    }
    return true;
  } catch {
    return false;
  } finally {
    client.end().catch(() => {});
  }
}
