import { hostname } from "node:os";
import pg from "pg";
import type { Logger } from "pino";
import { createApi } from "./api/server.ts";
import type { Config } from "./config.ts";
import type { Claim } from "./domain/claim.ts";
import { createEngine, type Engine } from "./engine/engine.ts";
import { allowAll } from "./outbound/address-guard.ts";
import { createCaller } from "./outbound/caller.ts";
import { createDatabase } from "./postgres/database.ts";
import { assertDurable } from "./postgres/durability.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./postgres/embedded.ts";
import { createListener } from "./postgres/listener.ts";
import { type ConnectionSettings, createPool } from "./postgres/pool.ts";
import { createAuthService } from "./service/auth-service.ts";
import { createHealthService } from "./service/health-service.ts";
import { ensureOperator } from "./service/operator.ts";
import { createQueueService } from "./service/queue-service.ts";
import { formatTaskId } from "./service/task-id.ts";
import { createTaskService } from "./service/task-service.ts";
import { CHANNEL } from "./store/hints.ts";
import { migrate } from "./store/migrate.ts";
import { removeAllWorkers } from "./store/workers.ts";
import { VERSION } from "./version.ts";

/** Reads of the API: lists, records, queues. */
const API_CONNECTIONS = 8;

/** What the start-up banner tells. */
export interface House {
  readonly url: string;
  readonly database: string;
  readonly dataDir: string | null;
  readonly firstKey: string | null;
  stop(): Promise<void>;
  /** Ends a stop that is under way without waiting for calls. */
  hurry(): void;
}

/** Builds the whole house and opens its door. Whatever was built is torn down again if a later part fails. */
export async function openHouse(config: Config, log: Logger): Promise<House> {
  const closers: (() => Promise<unknown>)[] = [];
  const closeAll = async () => {
    for (const close of closers.reverse()) await close();
  };
  try {
    return await build(config, log, closers, closeAll);
  } catch (error) {
    await closeAll().catch((err) => log.error({ err }, "stop.failed"));
    throw error;
  }
}

async function build(
  config: Config,
  log: Logger,
  closers: (() => Promise<unknown>)[],
  closeAll: () => Promise<void>,
): Promise<House> {
  const embedded = config.databaseUrl === null ? await startOwnPostgres(config, log) : null;
  if (embedded !== null) closers.push(embedded.stop);
  const connection = embedded?.connection ?? { connectionString: config.databaseUrl ?? "" };
  const open = (use: string, max: number) => {
    const onError = (err: Error) => log.warn({ use, err }, "database.connection_lost");
    const pool = createPool(connection, { max, applicationName: `bellhop-${use}`, onError });
    closers.push(() => pool.end());
    return pool;
  };

  const apiPool = open("api", API_CONNECTIONS);
  const database = createDatabase(apiPool);
  await assertDurable(apiPool, { allowUnsafe: config.allowUnsafeDatabase });
  for (const name of await migrate(database)) log.info({ migration: name }, "schema.migrated");
  const operator = await ensureOperator(database, config.apiKey);
  // Nobody else can reach the embedded database: who is registered there died with the process before this one.
  if (embedded !== null) await removeAllWorkers(database);

  const caller = createCaller({ userAgent: `Bellhop/${VERSION}`, guard: allowAll });
  closers.push(caller.stop);
  const engine = createEngine({
    databases: {
      lease: createDatabase(open("lease", 1)),
      intake: createDatabase(open("intake", 1)),
      settle: createDatabase(open("settle", 2)),
      claim: createDatabase(open("claim", 2)),
      chores: createDatabase(open("chores", 2)),
    },
    caller,
    log,
    name: `${hostname()}:${process.pid}`,
    capacity: config.maxInFlight,
    retentionDays: config.retentionDays,
    ownHeaders,
    monotonicMs: () => performance.now(),
    random: Math.random,
  });
  await engine.start();
  closers.push(() => engine.stop(config.stopGraceSeconds * 1000));
  const listener = listen(connection, engine);
  closers.push(listener.stop);

  const nodeId = () => engine.lease.workerId;
  const api = await createApi({
    tasks: createTaskService({ sql: database, nodeId, submit: engine.submit }),
    queues: createQueueService({ database, nodeId }),
    auth: createAuthService({ sql: database, monotonicMs: () => performance.now() }),
    health: createHealthService({ sql: database, isDispatching: engine.lease.isHeld }),
    log,
    version: VERSION,
    publicUrl: config.publicUrl ?? `http://${config.host}:${config.port}`,
    bodyLimitBytes: config.bodyLimitBytes,
  });
  closers.push(() => api.close());
  const url = await api.listen({ host: config.host, port: config.port });
  return {
    url,
    database: embedded === null ? describe(config.databaseUrl ?? "") : "embedded PostgreSQL",
    dataDir: embedded?.dataDir ?? null,
    firstKey: operator.firstKey,
    stop: closeAll,
    hurry: engine.hurry,
  };
}

function startOwnPostgres(config: Config, log: Logger): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({
    dataDir: config.dataDir,
    log: (event, fields) => log[event === "postgres.log" ? "debug" : "info"](fields, event),
  });
}

function listen(connection: ConnectionSettings, engine: Engine) {
  return createListener({
    connect: () => new pg.Client({ ...connection, application_name: "bellhop-listen", keepAlive: true }),
    channel: CHANNEL,
    onMessage: engine.hear,
    onConnected: engine.lookEverywhere,
  });
}

/** Names the server without its password. */
function describe(databaseUrl: string): string {
  const { host, database } = new pg.Client({ connectionString: databaseUrl });
  return `PostgreSQL at ${host}, database ${database}`;
}

function ownHeaders(claim: Claim): Record<string, string> {
  const headers: Record<string, string> = {
    "bellhop-task-id": claim.shape === "queue" ? formatTaskId(claim.id) : claim.id,
    "bellhop-queue": claim.queue,
    "bellhop-attempt": String(claim.attempt),
  };
  if (claim.shape === "queue" && claim.call.body !== null) headers["content-type"] = "application/json";
  return headers;
}
