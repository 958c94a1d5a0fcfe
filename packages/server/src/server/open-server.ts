import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import { mergeScrapes } from "../metrics/merged-scrapes.ts";
import { createProcessMetrics } from "../metrics/metrics.ts";
import type { Member } from "../processes/member.ts";
import { startProcessGroup } from "../processes/process-group.ts";
import { createProviderService } from "../service/tasks/provider-service.ts";
import {
  type Closers,
  type DatabaseSetup,
  describeDatabase,
  type FirstKeys,
  makeFirstKeys,
  migrateOnStart,
  openDatabase,
  openStartDatabase,
  prepareDatabase,
  reportMissingKeys,
} from "./compose-database.ts";

/** A running server, or one process of it. */
export interface Running {
  callsUnderWay(): number;
  stop(): Promise<void>;
  /** Makes a running stop abort the calls. */
  hurry(): void;
  /** Resolves if the server cannot continue and must be stopped. */
  readonly hopeless?: Promise<Error>;
}

/** A running server, with the data of its banner. */
export interface RunningServer extends Running, FirstKeys {
  readonly url: string;
  /** How many share the port. */
  readonly processes: number;
  readonly database: string;
  readonly dataDir: string | null;
  /** The data directory was empty before this start. */
  readonly isNewData: boolean;
  /** The ids of the vault keys that stored credentials need and this server does not have. */
  readonly missingKeys: readonly string[];
}

/** A parent builds no node and does not load its modules. */
const loadNode = () => import("./compose-process.ts");

/** The entry file of every process. */
const MAIN = fileURLToPath(new URL("../main.js", import.meta.url));

/** Builds the whole server in this process, and listens. */
export function openServer(config: Config, log: Logger): Promise<RunningServer> {
  return openWith(log, async (closers, closeAll) => {
    // First, so that a mistake in the file does not cost a database start.
    const providers = createProviderService(config.providersFile);
    const setup = await openDatabase(config, log, closers);
    const { openProcess } = await loadNode();
    const { database, url, callsUnderWay, hurry } = await openProcess({
      config,
      log,
      setup,
      providers,
      prepare: (opened) => prepareDatabase(opened, setup, config, log),
      closers,
    });
    const missingKeys = await reportMissingKeys(database, config, setup, log);
    const keys = await makeFirstKeys(database, config, url, log);
    const told = { ...keys, ...described(setup), missingKeys, url, processes: 1 };
    return { ...told, callsUnderWay, hurry, stop: closeAll };
  });
}

/**
 * Opens a server of several processes, as their parent: it runs the database, does the work of a start once, and
 * distributes connections. It answers no request and executes no task.
 */
export function openProcessGroup(config: Config, processes: number, log: Logger): Promise<RunningServer> {
  return openWith(log, async (closers, closeAll) => {
    createProviderService(config.providersFile);
    const setup = await openDatabase(config, log, closers, processes);
    const embedded = setup.dataDir === null ? null : { connection: setup.connection, dataDir: setup.dataDir };
    const starting: Closers = [];
    const database = openStartDatabase(setup, log, starting);
    try {
      await prepareDatabase(database, setup, config, log);
      // Here, because it may create the key: two processes would create two.
      const missingKeys = await reportMissingKeys(database, config, setup, log);
      const port = await findPort(config);
      const group = await startProcessGroup({
        processes,
        file: MAIN,
        begin: (number) => ({ kind: "begin", number, processes, port, embedded }),
        scrape: createProcessMetrics().render,
        log,
      });
      closers.push(group.stop);
      const keys = await makeFirstKeys(database, config, group.url, log);
      group.completeStart();
      return { ...keys, ...described(setup), missingKeys, ...group, processes, stop: closeAll };
    } finally {
      for (const close of starting) await close();
    }
  });
}

/** Opens one process of a multi-process server. */
export function openMember(config: Config, member: Member, log: Logger): Promise<Running> {
  return openWith(log, async (closers, closeAll) => {
    const providers = createProviderService(config.providersFile);
    const { embedded, port, processes } = member;
    const setup: DatabaseSetup =
      embedded === null ? await openDatabase(config, log, closers) : { ...embedded, isNew: false };
    const { openProcess } = await loadNode();
    const work = await openProcess({
      config: { ...config, port },
      log,
      setup,
      providers,
      // The parent has migrated. A replacement may find that a newer server has migrated too, and must not start.
      prepare: (opened) => migrateOnStart(opened, log),
      closers,
      processSlot: {
        processes,
        hitLines: member.hitLines,
        isServerStarted: member.isServerStarted,
        metricsPage: (own) => ({
          contentType: own.contentType,
          async render() {
            const [scrapes, common] = await Promise.all([member.gather(), own.renderCommon()]);
            return `${mergeScrapes(scrapes ?? [])}\n${common}`;
          },
        }),
      },
    });
    member.ready(work);
    const { callsUnderWay, hurry } = work;
    return {
      callsUnderWay,
      hurry,
      async stop() {
        await closeAll().finally(member.leave);
      },
    };
  });
}

/** Builds something that must be closed. If a later part fails, the earlier ones are closed. */
async function openWith<T>(
  log: Logger,
  build: (closers: Closers, closeAll: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const closers: Closers = [];
  const closeAll = async () => {
    const failures: unknown[] = [];
    for (const close of closers.reverse()) await close().catch((error) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  };
  try {
    return await build(closers, closeAll);
  } catch (error) {
    await closeAll().catch((err) => log.error({ err }, "stop.failed"));
    throw error;
  }
}

function described(setup: DatabaseSetup): Pick<RunningServer, "database" | "dataDir" | "isNewData"> {
  const isNewData = setup.dataDir !== null && setup.isNew;
  return { database: describeDatabase(setup), dataDir: setup.dataDir, isNewData };
}

/** Listens briefly, to report a failure once and to fix the port: a replacement must use the same one. */
function findPort({ host, port }: Config): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ host, port }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : port));
    });
  });
}
