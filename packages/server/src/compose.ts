import { isIP } from "node:net";
import { hostname } from "node:os";
import { fileURLToPath } from "node:url";
import pg from "pg";
import type { Logger } from "pino";
import { readPageFiles } from "./api/pages/page-files.ts";
import type { LinkDelivery } from "./api/pages/sign-in.ts";
import { composeApi, composeWorkerApi } from "./compose-api.ts";
import { composeApiNode, composeNode } from "./compose-node.ts";
import { spaceOf } from "./compose-space.ts";
import type { Config } from "./config.ts";
import type { Engine } from "./engine/engine.ts";
import type { FrontDesk } from "./engine/front-desk.ts";
import { createCaller } from "./outbound/caller.ts";
import { createDnsLookup } from "./outbound/dns-lookup.ts";
import { createEgressGuard } from "./outbound/egress-guard.ts";
import { createMailer } from "./outbound/mailer.ts";
import { LOOKUPS_PER_TEAM, systemLookup } from "./outbound/name-resolver.ts";
import { createDatabase } from "./postgres/database.ts";
import { splitDatabaseUrl } from "./postgres/database-url.ts";
import { beginDeadline, endDeadline } from "./postgres/deadlines.ts";
import { assertDurable, findReplicationDanger } from "./postgres/durability.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./postgres/embedded.ts";
import { createListener } from "./postgres/listener.ts";
import { type ConnectionSettings, createPool, endPool } from "./postgres/pool.ts";
import { assertOwnSessions } from "./postgres/pooler.ts";
import { createPrimary } from "./postgres/primary.ts";
import { ensureOperator, makeFirstLink, mintFirstKey } from "./service/operator/operator.ts";
import { createProviderService } from "./service/tasks/provider-service.ts";
import { migrate } from "./store/migrate.ts";
import { removeAllNodes } from "./store/nodes.ts";
import { CHANNEL } from "./store/tasks/hints.ts";
import { removeAllWorkers } from "./store/tasks/workers.ts";
import { systemTime } from "./system-time.ts";
import { openKeyFile } from "./vault/key-file.ts";
import type { KeyRing } from "./vault/key-ring.ts";
import type { Vault } from "./vault/vault.ts";
import { VERSION } from "./version.ts";

/** Reads of the API: lists, records, queues. */
const API_CONNECTIONS = 8;

/**
 * A statement of the engine's that takes this long is undone by the server, before the node gives up its answer: then
 * both know that nothing was done.
 */
const HOT_STATEMENT_MS = 1_400;

/** Connections that the system holds for us while we are busy; one for which there is no room is tried again after a second. */
const BACKLOG = 2_048;

/** Where the build leaves the dashboard. */
const PAGE = fileURLToPath(new URL("page", import.meta.url));

/** What the start-up banner tells. */
export interface House {
  readonly url: string;
  readonly database: string;
  readonly dataDir: string | null;
  /** The data directory was empty before this start. */
  readonly isNewData: boolean;
  readonly firstKey: string | null;
  /** Into the dashboard, made with the first key where only this machine reaches the server. */
  readonly firstLink: string | null;
  callsUnderWay(): number;
  stop(): Promise<void>;
  /** Ends a stop that is under way without waiting for calls. */
  hurry(): void;
}

/** Builds the whole house and opens its door. Whatever was built is torn down again if a later part fails. */
export async function openHouse(config: Config, log: Logger): Promise<House> {
  const closers: (() => Promise<unknown>)[] = [];
  const closeAll = async () => {
    const failures: unknown[] = [];
    for (const close of closers.reverse()) await close().catch((error) => failures.push(error));
    if (failures.length > 0) throw failures[0];
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
  // First of all: a mistake in the file must not cost the start of a database.
  const providers = createProviderService(config.providersFile);
  const embedded = config.databaseUrl === null ? await startOwnPostgres(config, log) : null;
  if (embedded !== null) closers.push(embedded.stop);
  const connection = embedded?.connection ?? (await reachServer(config.databaseUrl ?? "", log, closers));
  if (embedded === null) await assertOwnSessions(connection);
  const pools = new Map<string, pg.Pool>();
  // At once: each may have to wait for a moment until its server is taken for deaf.
  closers.push(() => Promise.all([...pools.values()].map(endPool)));
  const open = (use: string, max: number, statementTimeoutMs?: number) => {
    const pool = createPool(connection, {
      max,
      applicationName: `bellhop-${use}`,
      onError: (err) => log.warn({ use, err }, "database.connection_lost"),
      ...(statementTimeoutMs !== undefined && { statementTimeoutMs }),
    });
    pools.set(use, pool);
    return createDatabase(pool);
  };
  const openHot = (use: string, max: number) => open(use, max, HOT_STATEMENT_MS);

  const database = open("api", API_CONNECTIONS);
  const dangers = await assertDurable(database, { allowUnsafe: config.allowUnsafeDatabase });
  const ofReplication = "primary" in connection ? await findReplicationDanger(database) : null;
  for (const danger of [...dangers, ...(ofReplication === null ? [] : [ofReplication])])
    log.warn({ danger }, "database.unsafe");
  for (const name of await migrate(database)) log.info({ migration: name }, "schema.migrated");
  await ensureOperator(database, config.apiKey, config.ownerEmail);
  // Nobody else can reach the embedded database: who is registered there died with the process before this one.
  if (embedded !== null) {
    await removeAllWorkers(database);
    await removeAllNodes(database);
  }
  const keyRing = await chooseKeyRing(config, embedded?.dataDir ?? null);

  const guard = createEgressGuard(config.egress);
  const { resultLimitBytes } = config;
  const caller = createCaller({
    userAgent: `Bellhop/${VERSION}`,
    guard,
    maxResponseBytes: resultLimitBytes,
    lookup: config.resolver === "system" ? systemLookup : createDnsLookup(),
    lookupsPerTeam: LOOKUPS_PER_TEAM[config.resolver],
  });
  closers.push(caller.stop);
  const mailer = createMailer({
    smtpUrl: config.smtpUrl,
    mayLog: config.signInLinks.value === "log",
    from: config.mailFrom ?? defaultSender(config),
    log,
  });
  closers.push(mailer.stop);
  // Known for sure only once the server listens: the port may be any free one.
  let listensAt = "";
  const compose = config.role === "api" ? composeApiNode : composeNode;
  const { engine, vault, services, presence, counters } = compose({
    databases: {
      api: database,
      lease: openHot("lease", 1),
      intake: openHot("intake", 1),
      settle: openHot("settle", 2),
      claim: openHot("claim", 2),
      chores: open("chores", 3),
      polls: openHot("polls", 2),
    },
    caller,
    refuseUrl: guard.refuseUrl,
    sendMail: mailer.send,
    providers,
    keyRing,
    sessionKeys: config.sessionKeys,
    signUp: config.signUp.value,
    sendsLinks: linkDelivery(config) !== "operator",
    publicUrl: () => config.publicUrl ?? listensAt,
    name: `${hostname()}:${process.pid}`,
    role: config.role,
    embedded: embedded !== null,
    capacity: config.maxInFlight,
    planLimits: config.planLimits,
    ...spaceOf(config, embedded?.dataDir ?? null, database),
    retentionDays: config.retentionDays,
    resultLimitBytes,
    log,
    time: systemTime,
    random: Math.random,
  });
  services.metrics.watchProcess();
  services.metrics.watchPools(pools);
  await reportVault(vault, keyRing, log);
  // Before the engine runs: it takes a second in which nothing else happens, and connections would be taken for silent.
  const http = {
    log,
    version: VERSION,
    publicUrl: config.publicUrl ?? `http://${config.host}:${config.port}`,
    bodyLimitBytes: config.bodyLimitBytes,
    links: linkDelivery(config),
    deadlines: { begin: beginDeadline, end: endDeadline },
    page: config.role === "worker" ? null : readPageFiles(PAGE),
    metricsAccess: { exposed: config.exposed, token: config.metricsToken },
    ...(config.trustProxy.length > 0 && { trustProxy: [...config.trustProxy] }),
  };
  const api = await (config.role === "worker"
    ? composeWorkerApi(services, http)
    : composeApi(services, guard.refuseUrl, http));
  await api.ready();
  closers.push(() =>
    Promise.all([
      engine.stop(config.stopGraceSeconds * 1000).then(counters.writeLast),
      presence.leave().catch((err) => log.debug({ err }, "presence.not_ended")),
    ]),
  );
  await engine.start();
  closers.push(listen(connection, engine).stop);

  closers.push(() => api.close());
  const url = await api.listen({ host: config.host, port: config.port, backlog: BACKLOG });
  listensAt = url;
  // Only now: a key that is made by a start which then fails would never be shown.
  // And not by a worker: its output is not where one looks for it.
  const firstKey = config.apiKey === null && config.role !== "worker" ? await mintFirstKey(database) : null;
  const mayLink = firstKey !== null && !config.exposed;
  return {
    url,
    database:
      "connectionString" in connection || "primary" in connection
        ? describe(connection)
        : "embedded PostgreSQL",
    dataDir: embedded?.dataDir ?? null,
    isNewData: embedded?.isNew ?? false,
    firstKey,
    firstLink: mayLink ? await makeFirstLink(database, config.publicUrl ?? url) : null,
    stop: closeAll,
    callsUnderWay: () => ("attempts" in engine ? engine.attempts.count : 0),
    hurry: () => ("hurry" in engine ? engine.hurry() : undefined),
  };
}

function startOwnPostgres(config: Config, log: Logger): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({
    dataDir: config.dataDir,
    log: (event, fields) => log[event === "postgres.log" ? "debug" : "info"](fields, event),
  });
}

/** Without keys of the operator's own, only the embedded database has a place to keep one that it makes itself. */
async function chooseKeyRing({ vaultKeys }: Config, dataDir: string | null): Promise<KeyRing | null> {
  if (vaultKeys === "off") return null;
  return vaultKeys ?? (dataDir === null ? null : openKeyFile(dataDir));
}

async function reportVault(vault: Vault, keyRing: KeyRing | null, log: Logger): Promise<void> {
  log.info({ keys: keyRing?.ids ?? [] }, keyRing === null ? "vault.off" : "vault.opened");
  const missing = await vault.missingKeys();
  if (missing.length > 0) log.error({ keys: missing }, "vault.keys_missing");
}

function listen(connection: ConnectionSettings, engine: FrontDesk | Engine) {
  return createListener({
    connection,
    channel: CHANNEL,
    onMessage: engine.hear,
    onConnected: () => ("lookEverywhere" in engine ? engine.lookEverywhere() : undefined),
  });
}

/** How a link reaches the person that asks for one. */
function linkDelivery({ smtpUrl, signInLinks }: Config): LinkDelivery {
  if (smtpUrl !== null) return "mail";
  return signInLinks.value === "log" ? "log" : "operator";
}

/** Of several servers, the one that can be written to, now and from now on. */
async function reachServer(
  databaseUrl: string,
  log: Logger,
  closers: (() => Promise<unknown>)[],
): Promise<ServerConnection> {
  const urls = splitDatabaseUrl(databaseUrl);
  if (urls.length === 1) return { connectionString: urls[0] ?? "" };
  const primary = createPrimary(urls, (event, fields) => log.warn(fields, event));
  await primary.find();
  primary.watch();
  closers.push(primary.stop);
  return { primary };
}

type ServerConnection = Exclude<ConnectionSettings, EmbeddedPostgres["connection"]>;

/** Names the server without its password. */
function describe(connection: ServerConnection): string {
  const isOne = "connectionString" in connection;
  const url = isOne ? connection.connectionString : connection.primary.url;
  const { host, port, database } = new pg.Client({ connectionString: url });
  return `PostgreSQL at ${isOne ? host : `${host}:${port} of several`}, database ${database}`;
}

/** An address needs a name behind its @: for a bare IP address no server would take it. */
function defaultSender({ publicUrl, host }: Config): string {
  const name = publicUrl === null ? host : new URL(publicUrl).hostname;
  const bare = name.replace(/^\[|\]$/g, "");
  return `Bellhop <bellhop@${isIP(bare) === 0 ? bare : "localhost"}>`;
}
