import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import type { EmbeddedConnection } from "./connection.ts";
import { readPostmasterPid } from "./postmaster-pid.ts";

/** A start on an existing cluster takes a second; a crash's log may take longer to replay, and then one asks again. */
const PATIENCE_MS = 5_000;
const RETRY_MS = 50;
const CONNECT_TIMEOUT_MS = 2_000;

/**
 * How to reach the PostgreSQL that another Bellhop process runs on this data directory. A further connection takes
 * nothing from its owner: the locks that say who owns the directory are not touched.
 */
export async function reachRunningServer(dataDir: string): Promise<EmbeddedConnection> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const written = await readPostmasterPid(join(dataDir, "pgdata"));
    if (written !== null && written.socketDir !== "") {
      const { socketDir: host, port } = written;
      const connection = { host, port, user: "bellhop", database: "bellhop" } as const;
      if (await letsUsIn(connection)) return connection;
    }
    if (performance.now() > deadline) break;
    await sleep(RETRY_MS);
  }
  throw new Error(
    `A Bellhop is using ${dataDir}, but its database cannot be reached from here. If it is starting or stopping, try ` +
      "again; if it runs in a container, run this in there.",
  );
}

async function letsUsIn(connection: EmbeddedConnection): Promise<boolean> {
  const client = new Client({ ...connection, ssl: false, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on("error", () => {});
  const reached = await client.connect().then(
    () => true,
    () => false,
  );
  await client.end().catch(() => {});
  return reached;
}
