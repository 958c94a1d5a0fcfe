import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, DatabaseError } from "pg";
import { MadeBeforeRelease } from "../store/migration-history.ts";
import { readPasswords } from "./passwords.ts";
import { readPostmasterPid } from "./postmaster.ts";
import { prepareRole } from "./roles.ts";
import { connectionTo, type EmbeddedConnection } from "./socket-dir.ts";

/** A start on an existing cluster takes a second; a crash's log may take longer to replay, and then one asks again. */
const PATIENCE_MS = 5_000;
/** Short against a start of 60 ms; PostgreSQL forks for each try, so not shorter. */
const RETRY_MS = 25;
const CONNECT_TIMEOUT_MS = 2_000;

/**
 * How to reach the PostgreSQL that another Bellhop process runs on this data directory. A further connection takes
 * nothing from its owner.
 */
export async function reachRunningServer(
  dataDir: string,
  connectAs = connectionTo,
): Promise<EmbeddedConnection> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const written = await readPostmasterPid(join(dataDir, "pgdata"));
    const passwords = await readPasswords(dataDir);
    if (written !== null && written.socketDir !== "" && passwords !== null) {
      const connection = connectAs(written.socketDir, passwords, written.port);
      if ((await tryConnection(connection)) === null) return connection;
    }
    if (performance.now() > deadline) break;
    await sleep(RETRY_MS);
  }
  throw new Error(
    `A Bellhop is using ${dataDir}, but its database cannot be reached from here. If it is starting or stopping, try ` +
      "again; if it runs in a container, run this in there.",
  );
}

/**
 * Waits until the PostgreSQL that we started lets us in, and makes role and database the first time. There is no deadline:
 * after a crash PostgreSQL may replay its log for minutes, and `abandoned` tells when there is nothing left to wait for.
 */
export async function waitUntilReady(
  app: EmbeddedConnection,
  admin: EmbeddedConnection,
  abandoned: AbortSignal,
): Promise<void> {
  let isPrepared = false;
  for (;;) {
    abandoned.throwIfAborted();
    const refusal = await tryConnection(app);
    if (refusal === null) return;
    if (isUnknown(refusal) && !isPrepared) {
      await untilDone(() => prepareRole(admin, app), abandoned);
      isPrepared = true;
    } else if (!mayPass(refusal)) throw refusal;
    // Cut short when it is over, without an error: the reason in `abandoned` is the one worth throwing.
    else await sleep(RETRY_MS, undefined, { signal: abandoned }).catch(() => {});
  }
}

/** No such database, no such role, one that may not log in yet, or another password. */
function isUnknown(refusal: unknown): boolean {
  return ["3D000", "28000", "28P01"].some((state) => hasState(refusal, state));
}

/** Null when PostgreSQL lets us in, otherwise why not. */
export async function tryConnection(connection: EmbeddedConnection): Promise<unknown> {
  // PGSSLMODE in our environment is meant for other servers; a unix socket has no TLS.
  const client = new Client({ ...connection, ssl: false, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on("error", () => {});
  const refusal = await client.connect().then(
    () => null,
    (error: unknown) => error,
  );
  await client.end().catch(() => {});
  return refusal;
}

/** Asks a server that is starting until it has done this, which must bear to be done twice. Without a deadline, as above. */
export async function untilDone(work: () => Promise<void>, abandoned: AbortSignal): Promise<void> {
  for (;;) {
    abandoned.throwIfAborted();
    const failure = await work().then(
      () => null,
      (error: unknown) => error ?? new Error("Failed without a reason"),
    );
    if (failure === null) return;
    if (!mayPass(failure)) throw failure;
    await sleep(RETRY_MS, undefined, { signal: abandoned }).catch(() => {});
  }
}

/** A refused connection may pass, and so may SQLSTATE class 57: starting up, in recovery, shutting down. */
function mayPass(error: unknown): boolean {
  if (error instanceof MadeBeforeRelease) return false;
  return !(error instanceof DatabaseError) || hasState(error, "57");
}

export function hasState(error: unknown, state: string): boolean {
  return error instanceof DatabaseError && error.code?.startsWith(state) === true;
}
