import { Client } from "pg";
import type { EmbeddedConnection } from "./connection.ts";

/** Any constant of ours; the half that `pg_locks` shows as `objid`, with `classid` 0. */
const LOCK_KEY = 1_650_814_060;
const NAME_PREFIX = "bellhop-owner:";
const CONNECT_TIMEOUT_MS = 2000;

/** `client` is set when the lock is ours, for as long as that connection lives. */
export type OwnershipAnswer = { client: Client } | { client: null; holderPid: number | null };

/**
 * Connects and tries the advisory lock that says which Bellhop owns this database. The name of the connection
 * tells a refused one whom to stop. Throws when PostgreSQL cannot be reached.
 */
export async function tryOwnership(connection: EmbeddedConnection): Promise<OwnershipAnswer> {
  const client = new Client({
    ...connection,
    // PGSSLMODE in our environment is meant for other servers; a unix socket has no TLS.
    ssl: false,
    application_name: `${NAME_PREFIX}${process.pid}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CONNECT_TIMEOUT_MS,
  });
  // Without a listener the loss of this connection would end the process.
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ taken: boolean }>("select pg_try_advisory_lock($1) as taken", [
      LOCK_KEY,
    ]);
    if (rows[0]?.taken === true) return { client };
    const holderPid = await findHolder(client);
    await client.end();
    return { client: null, holderPid };
  } catch (error) {
    client.end().catch(() => {});
    throw error;
  }
}

async function findHolder(client: Client): Promise<number | null> {
  const { rows } = await client.query<{ application_name: string }>(
    `select a.application_name
       from pg_locks l
       join pg_stat_activity a on a.pid = l.pid
       join pg_database d on d.oid = l.database
      where d.datname = current_database()
        and l.locktype = 'advisory' and l.classid = 0 and l.objid = $1 and l.granted`,
    [LOCK_KEY],
  );
  const name = rows[0]?.application_name ?? "";
  const pid = Number.parseInt(name.slice(NAME_PREFIX.length), 10);
  return name.startsWith(NAME_PREFIX) && !Number.isNaN(pid) ? pid : null;
}
