import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
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
import type { Config } from "./config.ts";
import { mergeScrapes } from "./metrics/merged-scrapes.ts";
import { createProcessMetrics } from "./metrics/metrics.ts";
import type { Member } from "./processes/member.ts";
import { startProcessGroup } from "./processes/process-group.ts";
import { createProviderService } from "./service/tasks/provider-service.ts";

/** What runs here, and how to end it: a server, or one process of it. */
export interface Running {
  callsUnderWay(): number;
  stop(): Promise<void>;
  /** Ends a stop that is under way without waiting for calls. */
  hurry(): void;
  /** Resolves where it cannot go on, and has to be stopped. */
  readonly hopeless?: Promise<Error>;
}

/** A server that runs, and what its banner tells. */
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

/** A parent builds no node, and keeps none of what it is made of in memory. */
const loadNode = () => import("./compose.ts");

/** What every process of a server runs. */
const MAIN = fileURLToPath(new URL("main.js", import.meta.url));

/** Builds the whole server in this one process, and opens its door. */
export function openServer(config: Config, log: Logger): Promise<RunningServer> {
  return openWith(log, async (closers, closeAll) => {
    // First of all: a mistake in the file must not cost the start of a database.
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
 * Opens a server of several processes, as their parent: it runs the database, does once what a start does once, and hands out
 * connections. No request is answered and no task executed here.
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
      // Here, as it may make the key: two processes that made one at once would make two.
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

/** Opens one process of a server whose parent has opened the rest. */
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
      // The parent has migrated. A process that is begun later may find that a newer server has done so too, and must not start.
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

/** Builds something with a life. Whatever was built is torn down again if a later part fails. */
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

/**
 * Listens for a moment, to say once that it cannot be done, and to settle which port any free one is: a process that is begun
 * after all others have died must come to the same.
 */
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
