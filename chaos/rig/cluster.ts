import { appendFileSync, chmodSync, rmSync } from "node:fs";
import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { createDatabase } from "../../packages/server/src/postgres/database.ts";
import { migrate } from "../../packages/server/src/store/migrate.ts";
import { endAtExit } from "../../tools/ending.ts";
import { freePort } from "../../tools/free-port.ts";
import { STOP_GRACE_MS } from "../checker/check.ts";
import { API_KEY } from "./api.ts";
import { installChangeLog } from "./change-log.ts";
import { type Line, startLine } from "./line.ts";
import { createNode, type Node } from "./node.ts";
import { copyServer, type Plant } from "./plants.ts";
import { createPostgres, type Postgres } from "./postgres.ts";
import { SHORT_LIVES } from "./short-lives.ts";
import { startTarget, type Target } from "./target.ts";
import { openTeams, type Team } from "./teams.ts";
import { SHORT_ROUNDS, VAULT_KEYS } from "./vault-keys.ts";

/** Everything a run needs, up and running. */
export interface Cluster {
  readonly postgres: Postgres;
  readonly lines: readonly Line[];
  readonly nodes: readonly Node[];
  readonly target: Target;
  readonly teams: { readonly main: Team; readonly neighbour: Team };
  /** The setting with which nodes start from now on. */
  setVaultKeys(keys: string): void;
  /** Where the logs of all processes are. */
  readonly logDir: string;
  stop(): Promise<void>;
}

export async function openCluster(options: {
  readonly distDir: string;
  readonly nodes: number;
  readonly plant: Plant | null;
  /** Whether every change of a row is written down. */
  readonly isWatched: boolean;
}): Promise<Cluster> {
  const directory = await mkdtemp(join(tmpdir(), "bellhop-chaos-"));
  // As root, PostgreSQL runs under another user, which has to be able to enter.
  chmodSync(directory, 0o755);
  endAtExit(() => rmSync(directory, { recursive: true, force: true }));
  const logDir = join(directory, "logs");
  const dataDir = join(directory, "data");
  for (const dir of [logDir, dataDir]) await mkdir(dir);
  chmodSync(dataDir, 0o711);

  const postgres = await createPostgres({
    dataDir,
    settings: options.plant?.settings ?? {},
    log: (line) => appendFileSync(join(logDir, "postgres.log"), `${line}\n`),
  });
  // A copy, so that a build in the checkout does not change a run under way.
  const edits = [
    ...(options.isWatched ? [...SHORT_LIVES, ...SHORT_ROUNDS] : []),
    ...(options.plant?.edits ?? []),
  ];
  const main = await copyServer(options.distDir, join(directory, "server"), { edits });
  await postgres.start();
  await migrateFirst(postgres);
  if (options.isWatched) await installChangeLog(postgres);
  const target = await startTarget();
  const lines: Line[] = [];
  const nodes: Node[] = [];
  const settings: Record<string, string>[] = [];
  for (let index = 1; index <= options.nodes; index += 1) {
    const line = await startLine(postgres.socket);
    lines.push(line);
    const logFile = join(logDir, `node-${index}.log`);
    const env = settingsFor(line, options.plant);
    settings.push(env);
    nodes.push(createNode({ index, main, port: await freePort(), env, logFile }));
  }
  await Promise.all(nodes.map((node) => node.start()));
  const teams = await openTeams(postgres);

  return {
    postgres,
    lines,
    nodes,
    target,
    teams,
    setVaultKeys(keys) {
      for (const env of settings) env.BELLHOP_VAULT_KEYS = keys;
    },
    logDir,
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()));
      await Promise.all(lines.map((line) => line.stop()));
      await postgres.stop();
      await target.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Before the first node, so that the triggers see all that it does. */
async function migrateFirst(postgres: Postgres): Promise<void> {
  const pool = new pg.Pool({ ...postgres.connection, max: 1 });
  try {
    await migrate(createDatabase(pool));
  } finally {
    await pool.end();
  }
}

function settingsFor({ port }: Line, plant: Plant | null): Record<string, string> {
  return {
    HOST: "127.0.0.1",
    DATABASE_URL: `postgres://bellhop@127.0.0.1:${port}/bellhop`,
    BELLHOP_API_KEY: API_KEY,
    BELLHOP_VAULT_KEYS: VAULT_KEYS,
    BELLHOP_STOP_GRACE: String(STOP_GRACE_MS / 1000),
    BELLHOP_EGRESS: "public",
    // Nothing else: a run never calls out of this machine.
    BELLHOP_EGRESS_ALLOW: "127.0.0.1",
    LOG_LEVEL: "info",
    ...(plant?.settings !== undefined && { BELLHOP_ALLOW_UNSAFE_DATABASE: "true" }),
  };
}
