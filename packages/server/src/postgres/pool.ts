import { Pool, type PoolConfig } from "pg";
import { PLANNER } from "./planner.ts";
import type { EmbeddedConnection } from "./socket-dir.ts";

/** Either the operator's DATABASE_URL or our own embedded server. */
export type ConnectionSettings = { connectionString: string } | EmbeddedConnection;

export type PoolOptions = {
  max: number;
  applicationName: string;
  /** Told of every lost connection. The pool replaces it by itself; its user got the error too. */
  onError(error: Error): void;
  /** No limit when left out. */
  statementTimeoutMs?: number;
};

/** A database that is away must be noticed within the 2 s in which we promise to answer 503. */
const CONNECT_TIMEOUT_MS = 2000;

export function createPool(connection: ConnectionSettings, options: PoolOptions): Pool {
  const config: PoolConfig = {
    ...connection,
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  };
  // PGSSLMODE in our environment is meant for other servers; a unix socket has no TLS.
  if ("host" in connection) config.ssl = false;
  if (options.statementTimeoutMs !== undefined) config.statement_timeout = options.statementTimeoutMs;

  config.onConnect = async (client) => {
    await client.query(PLANNER);
  };

  const pool = new Pool(config);
  // A pool that is being closed no longer waits for its connections: the server may end them first.
  const onError = (error: Error) => {
    if (!pool.ending) options.onError(error);
  };
  pool.on("error", onError);
  // The pool listens only while a connection is idle: one lost between two statements of a transaction would
  // end the process.
  pool.on("connect", (client) => client.on("error", onError));
  return pool;
}
