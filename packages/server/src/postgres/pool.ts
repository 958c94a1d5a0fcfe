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
  /** Told of every lost connection. The pool replaces it by itself; its user got the error too. */
  onError(error: Error): void;
  /** After which the server undoes a statement by itself. */
  statementTimeoutMs?: number;
};

/** A database that is away must be noticed within the 2 s in which we promise to answer 503. */
export const CONNECT_TIMEOUT_MS = 1_500;

/** No statement runs on for long that this process has given up. Longer than any that it waits for, but migrations. */
const STATEMENT_TIMEOUT_MS = 15_000;

/**
 * What the server does by itself where this process gives up, or stands still. A statement that waits for a lock ends
 * before our deadline does: its connection lives on, and no backend is left waiting for each try. A transaction whose
 * process was paused or cut off lets its locks go before that: what waits for one on another node is not refused.
 */
function limits({ statementTimeoutMs = STATEMENT_TIMEOUT_MS }: PoolOptions): string {
  return [
    "set lock_timeout = '1200ms'",
    "set idle_in_transaction_session_timeout = '1s'",
    `set statement_timeout = ${statementTimeoutMs}`,
  ].join("; ");
}

/** How long a server may take to hear that a connection ends. */
export const GOODBYE_MS = 300;

/** The sockets of each pool, to be destroyed where a polite end is not heard. */
const socketsOf = new WeakMap<Pool, Set<Socket>>();

export function clientConfig(connection: ConnectionSettings, applicationName: string): ClientConfig {
  return {
    ...("primary" in connection ? { connectionString: connection.primary.url } : connection),
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    // PGSSLMODE in our environment is meant for other servers; a unix socket has no TLS.
    ...("host" in connection && { ssl: false }),
  };
}

export function createPool(connection: ConnectionSettings, options: PoolOptions): Pool {
  const sockets = new Set<Socket>();
  const config: PoolConfig = {
    ...clientConfig(connection, options.applicationName),
    max: options.max,
    stream: () => trackedSocket(sockets),
    // Without an end the pool would wait for it for ever, and with it all that wait for the pool.
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

/** The pool makes each of its clients from the same settings: this one asks where to connect to. */
function clientOf(primary: Primary): typeof Client {
  return class extends Client {
    constructor(config: ClientConfig) {
      super({ ...config, connectionString: primary.url });
    }
  };
}

/** Ends a pool within a moment, also one whose server does not answer any more. */
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
