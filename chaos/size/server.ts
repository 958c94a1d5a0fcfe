import { chmodSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reachRunningServer } from "../../packages/server/src/postgres/running-server.ts";
import { endAtExit } from "../../tools/ending.ts";
import { freePort } from "../../tools/free-port.ts";
import { queryOnce } from "../../tools/postgres-process.ts";
import { API_KEY } from "../rig/api.ts";
import { createNode, type Node } from "../rig/node.ts";
import type { Postgres } from "../rig/postgres.ts";

/** One server as it ships, with its embedded database, in a directory of its own. */
export interface Server {
  readonly node: Node;
  readonly dataDir: string;
  readonly query: Postgres["query"];
  /** Everything that it has written to its log. */
  log(): string;
  stop(): Promise<void>;
}

/** A directory for a scene, which does not outlive the runner. */
export async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "bellhop-size-"));
  // As root, PostgreSQL runs under another user, which has to be able to enter.
  chmodSync(directory, 0o755);
  endAtExit(() => removeDirectory(directory));
  return directory;
}

export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}

/** `dataDir` is made if it is not there. The server is not started yet. */
export async function createServer(options: {
  readonly distDir: string;
  readonly directory: string;
  readonly dataDir: string;
  /** So many files it may open. */
  readonly fileLimit?: number;
}): Promise<Server> {
  const { directory, dataDir } = options;
  mkdirSync(dataDir, { recursive: true });
  const logFile = join(directory, "node.log");
  const node = createNode({
    index: 1,
    main: join(options.distDir, "main.js"),
    port: await freePort(),
    env: {
      HOST: "127.0.0.1",
      BELLHOP_DATA_DIR: dataDir,
      BELLHOP_PROCESSES: "1",
      BELLHOP_API_KEY: API_KEY,
      BELLHOP_EGRESS: "public",
      // Nothing else: a scene never calls out of this machine.
      BELLHOP_EGRESS_ALLOW: "127.0.0.1",
      LOG_LEVEL: "info",
    },
    logFile,
    ...(options.fileLimit !== undefined && { fileLimit: options.fileLimit }),
  });
  return {
    node,
    dataDir,
    query: async (text, values) =>
      queryOnce({ ...(await reachRunningServer(dataDir)), ssl: false }, text, values),
    log: () => readFileSync(logFile, "utf8"),
    stop: () => node.stop(),
  };
}
