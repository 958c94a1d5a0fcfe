import { mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { CLUSTER, MANIFEST_FILE } from "./backup.ts";
import { copyFile, type Manifest, makeDirectories, syncDirectories } from "./backup-files.ts";
import { DRAFT_PREFIX } from "./cluster.ts";
import { resolveDataDir } from "./data-dir.ts";
import { exists } from "./disk.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./embedded.ts";
import { takeOwnerLock } from "./owner-lock.ts";
import { findBinaries } from "./runtime.ts";

/** PostgreSQL wants these, and a backup has no files in them. */
const DIRECTORIES = [
  "pg_wal/archive_status",
  "pg_replslot",
  "pg_dynshmem",
  "pg_notify",
  "pg_serial",
  "pg_snapshots",
  "pg_stat_tmp",
  "pg_subtrans",
  "pg_tblspc",
  "pg_twophase",
  "pg_commit_ts",
  "pg_stat",
  "pg_logical/snapshots",
  "pg_logical/mappings",
];

/**
 * Puts a backup into a data directory that has no database yet, and starts it, which replays its WAL. Every file is compared with the
 * manifest on the way; the cluster gets its name when all are there, so a restore that was interrupted leaves no database.
 */
export async function restoreCluster(source: string, wanted: string): Promise<EmbeddedPostgres> {
  const manifest = await readManifest(source);
  const { version } = await findBinaries();
  if (majorOf(manifest.postgres) !== majorOf(version))
    throw new Error(
      `The backup is of PostgreSQL ${manifest.postgres}, and this Bellhop brings ${version}: restore it with the Bellhop ` +
        `${manifest.bellhop} that made it`,
    );
  const { path: dataDir } = await resolveDataDir(wanted);
  const owner = await takeOwnerLock(dataDir, () => {});
  try {
    const pgdata = join(dataDir, "pgdata");
    if (await exists(pgdata))
      throw new Error(
        `There is a database in ${dataDir} already: move it away, or set BELLHOP_DATA_DIR to another place`,
      );
    const draft = await mkdtemp(join(dataDir, DRAFT_PREFIX));
    try {
      await copyVerified(join(resolve(source), CLUSTER), draft, manifest);
      await rename(draft, pgdata);
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      throw error;
    }
    await syncDirectories(dataDir, []);
  } finally {
    await owner.release();
  }
  return startEmbeddedPostgres({ dataDir, log: () => {} });
}

async function readManifest(source: string): Promise<Manifest> {
  const path = join(resolve(source), MANIFEST_FILE);
  const text = await readFile(path, "utf8").catch(() => {
    throw new Error(`${resolve(source)} is not a backup of Bellhop: it has no ${MANIFEST_FILE}`);
  });
  const manifest = parse(text);
  if (manifest?.format !== 1) throw new Error(`${path} is not of a format that this Bellhop reads`);
  return manifest;
}

function parse(text: string): Manifest | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function copyVerified(from: string, to: string, { files }: Manifest): Promise<void> {
  const names = Object.keys(files);
  const stranger = names.find((name) => name.startsWith("/") || name.split("/").includes(".."));
  if (stranger !== undefined) throw new Error(`The manifest names a file outside of the backup: ${stranger}`);
  const directories = [...new Set([...DIRECTORIES, ...names.map(dirname)])];
  await makeDirectories(to, directories);
  for (const [name, { size, sha256 }] of Object.entries(files)) {
    const copied = await copyFile(join(from, name), join(to, name));
    if (copied === null) throw new Error(`The backup is incomplete: ${name} is missing`);
    if (copied.size !== size || copied.sha256 !== sha256)
      throw new Error(`The backup is damaged: ${name} is not what was backed up`);
  }
  await syncDirectories(to, directories);
}

function majorOf(version: string): string {
  return version.split(".")[0] ?? "";
}
