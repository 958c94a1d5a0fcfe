import { isIP } from "node:net";
import { hostname } from "node:os";
import { fileURLToPath } from "node:url";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { CONNECTION_BOUNDS } from "../api/http/http-server.ts";
import { readPageFiles } from "../api/pages/page-files.ts";
import type { LinkDelivery } from "../api/pages/sign-in.ts";
import type { MetricsPage } from "../api/routes/metrics.ts";
import type { Config } from "../config.ts";
import type { Engine } from "../engine/engine.ts";
import type { FrontDesk } from "../engine/front-desk.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { createCaller } from "../outbound/caller.ts";
import { createDnsLookup } from "../outbound/dns-lookup.ts";
import { createEgressGuard } from "../outbound/egress-guard.ts";
import { createMailer } from "../outbound/mailer.ts";
import { LOOKUPS_PER_TEAM, systemLookup } from "../outbound/name-resolver.ts";
import { openTraceExporter } from "../outbound/trace-exporter.ts";
import { createDatabase } from "../postgres/database.ts";
import { beginDeadline, endDeadline } from "../postgres/deadlines.ts";
import { createListener } from "../postgres/listener.ts";
import { type ConnectionSettings, createPool, endPool } from "../postgres/pool.ts";
import type { HitLines } from "../processes/hits.ts";
import type { Work } from "../processes/member.ts";
import type { LoopShare } from "../service/access/loop-share.ts";
import type { EventSerializer } from "../service/tasks/event-serializer.ts";
import type { ProviderService } from "../service/tasks/provider-service.ts";
import { SETTINGS } from "../settings.ts";
import type { Database } from "../store/sql.ts";
import { CHANNEL } from "../store/tasks/hints.ts";
import { removeWorker } from "../store/tasks/workers.ts";
import type { Tracing } from "../tracing/tracing.ts";
import { VERSION } from "../version.ts";
import { composeApi, composeWorkerApi } from "./compose-api.ts";
import { type Closers, chooseKeyRing, type DatabaseSetup } from "./compose-database.ts";
import { spaceOf } from "./compose-disk-monitor.ts";
import { createEventSerializerThread } from "./compose-event-serializer.ts";
import { composeApiNode, composeNode } from "./compose-node.ts";
import { watchLoop } from "./loop-watch.ts";
import { createFileWatch } from "./open-files.ts";
import { retryOnStart } from "./retry-on-start.ts";
import { systemTime } from "./system-time.ts";

/** Reads of the API: lists, records, queues. */
const API_CONNECTIONS = 8;

/**
 * The server cancels an engine statement after this time, before the node stops waiting: then both know that it did
 * nothing.
 */
const HOT_STATEMENT_MS = 1_400;

/** Connections that the system queues while the process is busy; clients retry a dropped one after a second. */
const BACKLOG = 2_048;

/** The built dashboard, documentation and API reference. */
const PAGE = fileURLToPath(new URL("../page", import.meta.url));
const HELP = fileURLToPath(new URL("../help", import.meta.url));
const REFERENCE = fileURLToPath(new URL("../reference", import.meta.url));

/** This process among those that share a port, and its share of the server's limits. */
export interface ProcessSlot {
  readonly processes: number;
  readonly hitLines: HitLines;
  isServerStarted(): boolean;
  /** The answer to a scrape, which asks for the whole server and reaches one process. */
  metricsPage(own: Metrics): MetricsPage;
}

interface OpenProcess extends Work {
  readonly database: Database;
  hurry(): void;
}

/** Opens the connections, the node and the API of one process. */
export async function openProcess({
  config,
  log,
  setup,
  providers,
  prepare,
  closers,
  processSlot,
}: {
  readonly config: Config;
  readonly log: Logger;
  readonly setup: DatabaseSetup;
  readonly providers: ProviderService;
  /** Prepares the database for a node. */
  readonly prepare: (database: Database) => Promise<unknown>;
  readonly closers: Closers;
  /** Default: a single process. */
  readonly processSlot?: ProcessSlot;
}): Promise<OpenProcess> {
  const { connection, dataDir } = setup;
  const processes = processSlot?.processes ?? 1;
  const pools = new Map<string, Pool>();
  // In parallel: each may have to wait until its server is considered silent.
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
  await prepare(database);
  const keyRing = await chooseKeyRing(config, setup);

  const files = createFileWatch(log);
  const guard = createEgressGuard(config.egress);
  const { resultLimitBytes } = config;
  // Set once the services exist.
  let loop: LoopShare | null = null;
  const caller = createCaller({
    onWork: (teamId, ms) => loop?.spent(teamId, "answer", ms),
    userAgent: `Bellhop/${VERSION}`,
    guard,
    maxResponseBytes: resultLimitBytes,
    lookup: config.resolver === "system" ? systemLookup : createDnsLookup(),
    lookupsPerTeam: LOOKUPS_PER_TEAM[config.resolver],
    onConnectError: files.connectFailed,
  });
  closers.push(caller.stop);
  const mailer = await createMailer({
    smtpUrl: config.smtpUrl,
    mayLog: config.signInLinks.value === "log",
    from: config.mailFrom ?? defaultSender(config),
    log,
  });
  closers.push(mailer.stop);
  const tracing = await openTracing(closers);
  // Known only once the server listens: the port may be any free one.
  let listensAt = "";
  const chores = open("chores", 3);
  const compose = config.role === "api" ? composeApiNode : composeNode;
  const serializer = openEventSerializer(connection, log, closers);
  const { engine, services, heartbeat, writeLast } = compose({
    databases: {
      api: database,
      lease: openHot("lease", 1),
      intake: openHot("intake", 1),
      settle: openHot("settle", 3),
      claim: openHot("claim", 2),
      chores,
      polls: openHot("polls", 2),
    },
    caller,
    refuseUrl: guard.refuseUrl,
    sendMail: mailer.send,
    deliverMail: mailer.deliver,
    providers,
    keyRing,
    sessionKeys: config.sessionKeys,
    signUp: config.signUp.value,
    sendsLinks: linkDelivery(config) !== "operator",
    publicUrl: () => config.publicUrl ?? listensAt,
    name: nodeName(),
    role: config.role,
    embedded: dataDir !== null,
    capacity: shareOf(config.maxInFlight, processes),
    planLimits: config.planLimits,
    tracing,
    serializer,
    hitLines: processSlot?.hitLines,
    isServerStarted: processSlot?.isServerStarted,
    ...spaceOf(config, dataDir, database),
    retentionDays: config.retentionDays,
    resultLimitBytes,
    log,
    time: systemTime,
    random: Math.random,
  });
  closers.push(services.json.stop);
  loop = services.loop;
  const watching = watchLoop(loop.endSecond);
  closers.push(async () => watching.stop());
  services.metrics.watchProcess();
  services.metrics.watchPools(pools);
  log.info({ keys: keyRing?.ids ?? [] }, keyRing === null ? "vault.off" : "vault.opened");
  // Before the engine runs: it blocks the process for a second, in which connections would seem silent.
  const http = {
    log,
    version: VERSION,
    publicUrl: config.publicUrl ?? `http://${config.host}:${config.port}`,
    bodyLimitBytes: config.bodyLimitBytes,
    links: linkDelivery(config),
    deadlines: { begin: beginDeadline, end: endDeadline },
    page: config.role === "worker" ? null : readPageFiles(PAGE),
    help: config.role === "worker" ? null : readPageFiles(HELP),
    reference: config.role === "worker" ? null : REFERENCE,
    onHandle: tracing?.follow,
    metricsAccess: { exposed: config.exposed, token: config.metricsToken },
    ...(config.trustProxy.length > 0 && { trustProxy: [...config.trustProxy] }),
    ...(processSlot !== undefined && {
      metricsPage: processSlot.metricsPage(services.metrics),
      // Connections are distributed in turn, so each process gets about its share of the limits.
      connections: {
        mostConnections: shareOf(CONNECTION_BOUNDS.mostConnections, processes),
        mostPerSource: shareOf(CONNECTION_BOUNDS.mostPerSource, processes),
      },
    }),
  };
  const api = await (config.role === "worker"
    ? composeWorkerApi(services, http)
    : composeApi(services, guard.refuseUrl, http));
  await api.ready();
  api.server.on("connection", files.accepted);
  closers.push(() =>
    Promise.all([
      engine.stop(config.stopGraceSeconds * 1000).then(writeLast),
      heartbeat.leave().catch((err) => log.debug({ err }, "heartbeat.not_ended")),
    ]),
  );
  await retryOnStart(log, "this node's lease", () => engine.start());
  closers.push(listen(connection, engine).stop);

  closers.push(() => api.close());
  const url = await api.listen({ host: config.host, port: config.port, backlog: BACKLOG });
  listensAt = url;
  return {
    url,
    database,
    callsUnderWay: () => ("attempts" in engine ? engine.attempts.count : 0),
    workerId: () => ("lease" in engine ? engine.lease.workerId : null),
    scrape: services.metrics.renderOwn,
    async removeDeadWorker(workerId) {
      await removeWorker(chores, workerId).catch((err) => log.warn({ err }, "process.worker_not_removed"));
      engine.actors.wake("reaper");
    },
    hurry: () => ("hurry" in engine ? engine.hurry() : undefined),
  };
}

function nodeName(): string {
  return `${hostname()}:${process.pid}`;
}

/** Loaded only if traces are sent. The exporter itself reads OTEL_…. */
async function openTracing(closers: Closers): Promise<Tracing | undefined> {
  if (!process.env[SETTINGS.tracesUrl.name]) return undefined;
  const { createTracing } = await import("../tracing/tracing.ts");
  const exporter = await openTraceExporter({
    "service.name": "bellhop",
    "service.version": VERSION,
    "service.instance.id": nodeName(),
  });
  closers.push(() => exporter.stop().catch(() => {}));
  return createTracing(exporter.provider.getTracer("bellhop", VERSION));
}

/** With several servers only this thread knows the writable one. */
function openEventSerializer(
  connection: ConnectionSettings,
  log: Logger,
  closers: Closers,
): EventSerializer | undefined {
  if ("primary" in connection) return undefined;
  const thread = createEventSerializerThread(connection, (err) =>
    log.error({ err }, "event_serializer.thread_failed"),
  );
  closers.push(thread.stop);
  return thread;
}

/** A share of the server's limit; at least 1. */
function shareOf(all: number, processes: number): number {
  return Math.max(2, Math.ceil(all / processes));
}

function listen(connection: ConnectionSettings, engine: FrontDesk | Engine) {
  return createListener({
    connection,
    channel: CHANNEL,
    onMessage: engine.hear,
    onConnected: () => ("lookEverywhere" in engine ? engine.lookEverywhere() : undefined),
  });
}

/** How a link reaches a person. */
function linkDelivery({ smtpUrl, signInLinks }: Config): LinkDelivery {
  if (smtpUrl !== null) return "mail";
  return signInLinks.value === "log" ? "log" : "operator";
}

/** An address needs a host name: mail servers reject a bare IP address. */
function defaultSender({ publicUrl, host }: Config): string {
  const name = publicUrl === null ? host : new URL(publicUrl).hostname;
  const bare = name.replace(/^\[|\]$/g, "");
  return `Bellhop <bellhop@${isIP(bare) === 0 ? bare : "localhost"}>`;
}
