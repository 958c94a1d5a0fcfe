import { chmod, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { runBinary } from "./child-run.ts";
import { exists, giveTo, giveTreeTo, syncPath } from "./disk.ts";
import { type Identity, identityForInitdb } from "./identity.ts";
import type { Log } from "./log.ts";
import { SYNC_METHOD } from "./settings.ts";

export const DRAFT_PREFIX = "pgdata.new-";

/**
 * Ensures that `<dataDir>/pgdata` is a complete cluster. It is created under another name and renamed, so an
 * interrupted initdb leaves only a draft, which the next start removes. The caller must own the data directory.
 */
export async function ensureCluster(
  dataDir: string,
  runtimeDir: string,
  version: string,
  identity: Identity,
  log: Log,
): Promise<string> {
  for (const entry of await readdir(dataDir)) {
    if (entry.startsWith(DRAFT_PREFIX)) await rm(join(dataDir, entry), { recursive: true, force: true });
  }
  const pgdata = join(dataDir, "pgdata");
  if (await exists(pgdata)) await checkCluster(pgdata, version, identity);
  else await createCluster(pgdata, runtimeDir, identity, log);
  return pgdata;
}

async function createCluster(
  pgdata: string,
  runtimeDir: string,
  identity: Identity,
  log: Log,
): Promise<void> {
  const startedAt = performance.now();
  const dataDir = dirname(pgdata);
  const draft = await mkdtemp(join(dataDir, DRAFT_PREFIX));
  const maker = await identityForInitdb(identity);
  await giveTo(maker, draft);

  const args = ["-D", draft, "-U", "bellhop", "--encoding=UTF8", "--locale=C", "--auth=reject"];
  args.push("--data-checksums", "--no-instructions", `--sync-method=${SYNC_METHOD}`);
  const { exited } = runBinary(join(runtimeDir, "bin", "initdb"), args, maker, () => {});
  const exit = await exited;
  if (exit.code !== 0) {
    await rm(draft, { recursive: true, force: true });
    throw new Error(`The embedded PostgreSQL could not be set up: ${exit.lastLines.join(" ")}`);
  }
  if (maker?.uid !== identity?.uid) await giveTreeTo(identity, draft);
  await rename(draft, pgdata);
  // Committed tasks depend on these two directory entries: they must survive a power cut.
  await syncPath(dataDir);
  // The parent may be unreadable, and then cannot be flushed.
  await syncPath(dirname(dataDir)).catch(() => {});
  log("postgres.initialised", { pgdata, durationMs: Math.round(performance.now() - startedAt) });
}

async function checkCluster(pgdata: string, version: string, identity: Identity): Promise<void> {
  const { uid } = await stat(pgdata);
  const runsAs = identity?.uid ?? process.getuid?.();
  if (uid !== runsAs && identity === null) {
    throw new Error(
      `${pgdata} belongs to the user with id ${uid}, and Bellhop runs as ${runsAs}. ` +
        "Run Bellhop as that user or as root, or set BELLHOP_DATA_DIR to another directory.",
    );
  }
  // A copy restored by root belongs to root, as which PostgreSQL cannot run.
  if (uid !== runsAs) await giveTreeTo(identity, pgdata);
  // PostgreSQL refuses a cluster that others can read, as a restored copy may be.
  await chmod(pgdata, 0o700);

  const made = (await readFile(join(pgdata, "PG_VERSION"), "utf8")).trim();
  const brought = version.split(".")[0];
  if (made !== brought) {
    throw new Error(
      `${pgdata} was made by PostgreSQL ${made}, and this Bellhop brings PostgreSQL ${brought}. ` +
        "Move the data with pg_dump from the Bellhop version that made it, or set DATABASE_URL.",
    );
  }
}
