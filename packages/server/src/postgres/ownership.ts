import { setTimeout as sleep } from "node:timers/promises";
import { Client, DatabaseError } from "pg";
import type { EmbeddedConnection } from "./connection.ts";
import { DataDirInUse } from "./data-dir-in-use.ts";
import type { Log } from "./log.ts";
import { type OwnershipAnswer, tryOwnership } from "./owner-connection.ts";

export type Ownership = { stop(): Promise<void> };

/** Short against a start of 60 ms; PostgreSQL forks for each try, so not shorter. */
const RETRY_MS = 25;

/**
 * Takes the advisory lock as soon as PostgreSQL lets us in, and takes it again whenever the connection is
 * lost. There is no deadline: after a crash PostgreSQL may replay its log for minutes, and `abandoned` tells
 * when there is nothing left to wait for.
 */
export async function holdOwnership(
  connection: EmbeddedConnection,
  dataDir: string,
  abandoned: AbortSignal,
  log: Log,
): Promise<Ownership> {
  const stopping = new AbortController();
  const over = AbortSignal.any([abandoned, stopping.signal]);
  const first = await askUntilAnswered(connection, over);
  if (first.client === null) throw new DataDirInUse(dataDir, { pid: first.holderPid, host: null });
  let client = first.client;

  async function keep(): Promise<void> {
    for (;;) {
      await new Promise((resolve) => client.once("end", resolve));
      if (stopping.signal.aborted) return;
      log("postgres.ownership_lost", {});
      const again = await takeBack(connection, over).catch(() => null);
      // stop() has ended the connection it knew of; one that came through at the same moment is ours to end.
      if (again === null || stopping.signal.aborted) return again?.end();
      client = again;
      log("postgres.ownership_retaken", {});
    }
  }
  const kept = keep();

  async function stop(): Promise<void> {
    stopping.abort();
    await client.end().catch(() => {});
    await kept;
  }
  return { stop };
}

/** Whatever goes wrong after a crash may be over at the next try, and so may our own former connection's lock. */
async function takeBack(connection: EmbeddedConnection, over: AbortSignal): Promise<Client> {
  for (;;) {
    over.throwIfAborted();
    const answer = await tryOwnership(connection).catch(() => null);
    if (answer !== null && answer.client !== null) return answer.client;
    await nap(over);
  }
}

async function askUntilAnswered(connection: EmbeddedConnection, over: AbortSignal): Promise<OwnershipAnswer> {
  for (;;) {
    over.throwIfAborted();
    try {
      return await tryOwnership(connection);
    } catch (error) {
      if (hasState(error, "3D000")) await createBellhopDatabase(connection);
      else if (mayPass(error)) await nap(over);
      else throw error;
    }
  }
}

/** A refused connection may pass, and so may SQLSTATE class 57: starting up, in recovery, shutting down. */
function mayPass(error: unknown): boolean {
  return !(error instanceof DatabaseError) || hasState(error, "57");
}

function hasState(error: unknown, state: string): boolean {
  return error instanceof DatabaseError && error.code?.startsWith(state) === true;
}

/** Cut short when it is over, without an error: the reason in `over` is the one worth throwing. */
async function nap(over: AbortSignal): Promise<void> {
  await sleep(RETRY_MS, undefined, { signal: over }).catch(() => {});
}

async function createBellhopDatabase(connection: EmbeddedConnection): Promise<void> {
  const client = new Client({ ...connection, database: "postgres", ssl: false });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query(`create database ${client.escapeIdentifier(connection.database)}`);
  } finally {
    await client.end().catch(() => {});
  }
}
