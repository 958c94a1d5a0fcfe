import { DataDirInUse } from "./data-dir-in-use.ts";
import type { Log } from "./log.ts";
import { type OwnershipAnswer, tryOwnership } from "./owner-connection.ts";
import {
  clearPostmasterPid,
  isPostmasterOf,
  type PostmasterPid,
  readPostmasterPid,
} from "./postmaster-pid.ts";
import { stopPostmaster } from "./postmaster-stop.ts";
import { removeSocketDir } from "./socket-dir.ts";

/**
 * Deals with the postmaster that an earlier Bellhop left when it was killed. It is stopped, not adopted: it
 * may be of an older version or have other settings, and is nobody's child. Only a postmaster whose advisory
 * lock is free is an orphan: a held lock means a living Bellhop, and then it is we who must go.
 */
export async function clearOrphan(dataDir: string, pgdata: string, log: Log): Promise<void> {
  const left = await readPostmasterPid(pgdata);
  if (left === null) return;
  if (await isPostmasterOf(left.pid, pgdata)) await stopOrphan(dataDir, pgdata, left, log);
  await clearPostmasterPid(pgdata);
  await removeSocketDir(left.socketDir);
}

async function stopOrphan(dataDir: string, pgdata: string, left: PostmasterPid, log: Log): Promise<void> {
  const answer = await askOwnership(left);
  if (answer !== null && answer.client === null) {
    throw new DataDirInUse(dataDir, { pid: answer.holderPid, host: null });
  }
  log("postgres.orphan_found", { pid: left.pid, pgdata });
  const signal = await stopPostmaster(left.pid, () => isPostmasterOf(left.pid, pgdata));
  await answer?.client.end().catch(() => {});
  log("postgres.orphan_stopped", { pid: left.pid, signal });
}

/** `null` when it does not let us in: starting, stopping, stuck, or its socket gone. No Bellhop is served by it. */
async function askOwnership(left: PostmasterPid): Promise<OwnershipAnswer | null> {
  const connection = { host: left.socketDir, port: left.port, user: "bellhop", database: "bellhop" } as const;
  return tryOwnership(connection).catch(() => null);
}
