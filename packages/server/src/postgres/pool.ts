import { Socket } from "node:net";
import { Client, type ClientBase, type ClientConfig, Pool, type PoolConfig } from "pg";
import { beginDeadline, endDeadline } from "./deadlines.ts";
import { rememberInstants } from "./instants.ts";
import { PLANNER } from "./planner.ts";
import type { Primary } from "./primary.ts";
import type { EmbeddedConnection } from "./socket-dir.ts";

rememberInstants();

/** The operator's DATABASE_URL, one of the servers that it names, or our own embedded server. */
export type ConnectionSettings = { connectionString: string } | { primary: Primary } | EmbeddedConnection;

export type PoolOptions = {
  max: number;
  applicationName: string;
  /** Called for every lost connection. The pool replaces it, and its user got the error too. */
  onError(error: Error): void;
  /** The server cancels a statement after this time. */
  statementTimeoutMs?: number;
};

/** An unreachable database must be detected within the 2 s in which we promise a 503. */
export const CONNECT_TIMEOUT_MS = 1_500;

/** Limits statements that this process has given up. Longer than any that it waits for, except migrations. */
const STATEMENT_TIMEOUT_MS = 15_000;

/**
 * Server-side limits for a process that gives up or is frozen. A statement that waits for a lock ends before our
 * deadline: its connection stays usable, and no backend is left waiting per try. A transaction of a paused or
 * disconnected process releases its locks before that, so statements on other nodes that wait for them are not refused.
 */
function limits({ statementTimeoutMs = STATEMENT_TIMEOUT_MS }: PoolOptions): string {
  return [
    // The places of events rest on a snapshot that is taken after the statement has begun.
    "set default_transaction_isolation = 'read committed'",
    "set lock_timeout = '1200ms'",
    "set idle_in_transaction_session_timeout = '1s'",
    `set statement_timeout = ${statementTimeoutMs}`,
  ].join("; ");
}

/** The time for a graceful end of a connection. */
export const GOODBYE_MS = 300;

/** The sockets of each pool, destroyed if a graceful end fails. */
const socketsOf = new WeakMap<Pool, Set<Socket>>();

export function clientConfig(connection: ConnectionSettings, applicationName: string): ClientConfig {
  return {
    ...("primary" in connection ? { connectionString: connection.primary.url } : connection),
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    // PGSSLMODE in the environment is for other servers; a unix socket has no TLS.
    ...("host" in connection && { ssl: false }),
  };
}

export function createPool(connection: ConnectionSettings, options: PoolOptions): Pool {
  const sockets = new Set<Socket>();
  const config: PoolConfig = {
    ...clientConfig(connection, options.applicationName),
    max: options.max,
    stream: () => trackedSocket(sockets),
    // Without a timeout the pool would wait forever, and every caller of the pool too.
    onConnect: (client) => inTime(prepareClient(client)),
    ...("primary" in connection && { Client: clientOf(connection.primary) }),
  };
  const pool = new Pool(config);
  socketsOf.set(pool, sockets);
  if ("primary" in connection) {
    connection.primary.onMoved(() => {
      for (const socket of sockets) socket.destroy();
    });
  }

  async function prepareClient(client: ClientBase): Promise<void> {
    if ("primary" in connection) await connection.primary.check(client);
    await client.query(`${PLANNER}; ${limits(options)}`);
  }
  // A closing pool does not wait for its connections: the server may end them first.
  const onError = (error: Error) => {
    if (!pool.ending) options.onError(error);
  };
  pool.on("error", onError);
  // The pool handles errors only while a connection is idle: one lost between two statements of a transaction would
  // crash the process.
  pool.on("connect", (client) => client.on("error", onError));
  return pool;
}

/** The pool creates all clients from the same settings: this one looks up the current primary. */
function clientOf(primary: Primary): typeof Client {
  return class extends Client {
    constructor(config: ClientConfig) {
      super({ ...config, connectionString: primary.url });
    }
  };
}

/** Ends a pool quickly, even if its server does not answer. */
export async function endPool(pool: Pool): Promise<void> {
  const sockets = socketsOf.get(pool) ?? new Set();
  const closed = [...sockets].map((socket) => new Promise((resolve) => socket.once("close", resolve)));
  const timer = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, GOODBYE_MS);
  await Promise.all([pool.end(), ...closed]);
  clearTimeout(timer);
}

function trackedSocket(sockets: Set<Socket>): Socket {
  const socket = new Socket();
  sockets.add(socket);
  socket.once("close", () => sockets.delete(socket));
  return socket;
}

function inTime(work: Promise<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const deadline = beginDeadline(CONNECT_TIMEOUT_MS, () =>
      reject(new Error("PostgreSQL did not answer a new connection in time")),
    );
    work.then(resolve, reject).finally(() => endDeadline(deadline));
  });
}
