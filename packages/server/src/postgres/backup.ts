/**
 * A copy of the cluster of a running server, by PostgreSQL's low-level backup interface (decision 0024). Files change while they are
 * copied; the WAL from the start of the backup to its end, which the copy contains, repairs them when the copy is started.
 *
 * The race: a checkpoint during the copy could remove WAL that the copy needs. A temporary replication slot keeps it; it goes
 * with the connection, so a backup that dies leaves nothing behind.
 */
import { randomBytes } from "node:crypto";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { Client } from "pg";
import {
  copyFile,
  type FileEntry,
  listCluster,
  type Manifest,
  makeDirectories,
  syncDirectories,
  writeEntry,
} from "./backup-files.ts";
import { exists } from "./disk.ts";
import type { EmbeddedConnection } from "./socket-dir.ts";

export const MANIFEST_FILE = "manifest.json";
export const CLUSTER = "pgdata";
const SEGMENT = /^[0-9A-F]{24}$/;
const TIMELINE = /^[0-9A-F]{8}\.history$/;

export interface BackedUp {
  readonly path: string;
  readonly files: number;
  readonly bytes: number;
}

export async function backUpCluster(options: {
  readonly admin: EmbeddedConnection;
  readonly pgdata: string;
  /** Where to put it; nothing may be there yet. */
  readonly target: string;
  readonly version: string;
}): Promise<BackedUp> {
  const target = resolve(options.target);
  if (await exists(target)) throw new Error(`${target} exists already: a backup goes into a new directory`);
  // Under its name a backup is whole: one that was interrupted has another.
  const draft = join(dirname(target), `.${basename(target)}.${randomBytes(4).toString("hex")}`);
  await mkdir(dirname(target), { recursive: true });
  await mkdir(draft, { mode: 0o700 });
  const client = new Client({ ...options.admin, ssl: false, application_name: "bellhop-backup" });
  client.on("error", () => {});
  try {
    await client.connect();
    const entries = await copyInto(join(draft, CLUSTER), options.pgdata, client);
    const manifest: Manifest = {
      format: 1,
      bellhop: options.version,
      postgres: await showVersion(client),
      createdAt: new Date().toISOString(),
      files: Object.fromEntries(entries),
    };
    await writeEntry(join(draft, MANIFEST_FILE), `${JSON.stringify(manifest, null, 1)}\n`);
    await rename(draft, target);
    await syncDirectories(target, []);
    const bytes = [...entries.values()].reduce((sum, { size }) => sum + size, 0);
    return { path: target, files: entries.size, bytes };
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  } finally {
    await client.end().catch(() => {});
  }
}

async function copyInto(to: string, pgdata: string, client: Client): Promise<Map<string, FileEntry>> {
  const slot = `bellhop_backup_${randomBytes(6).toString("hex")}`;
  await client.query("select pg_create_physical_replication_slot($1, true, true)", [slot]);
  const began = await client.query<{ segment: string }>(
    "select pg_walfile_name(pg_backup_start('bellhop backup', true)) as segment",
  );
  const { directories, files } = await listCluster(pgdata);
  await mkdir(to, { mode: 0o700 });
  await makeDirectories(to, [...directories, "pg_wal/archive_status"]);
  const entries = new Map<string, FileEntry>();
  const copy = async (name: string) => {
    const entry = await copyFile(join(pgdata, name), join(to, name));
    if (entry !== null) entries.set(name, entry);
  };
  for (const name of files) await copy(name);
  const stopped = await client.query<{ segment: string; label: string }>(
    "select pg_walfile_name(lsn) as segment, labelfile as label from pg_backup_stop(false)",
  );
  const [first, last] = [began.rows[0]?.segment ?? "", stopped.rows[0]];
  if (last === undefined) throw new Error("PostgreSQL has not said where the backup ends");
  entries.set("backup_label", await writeEntry(join(to, "backup_label"), last.label));
  for (const name of await readdir(join(pgdata, "pg_wal"))) {
    const isNeeded = SEGMENT.test(name) && name >= first && name <= last.segment;
    if (isNeeded || TIMELINE.test(name)) await copy(`pg_wal/${name}`);
  }
  for (const name of [first, last.segment])
    if (!entries.has(`pg_wal/${name}`))
      throw new Error(`The WAL of the backup is incomplete: ${name} is gone`);
  await syncDirectories(to, directories);
  return entries;
}

async function showVersion(client: Client): Promise<string> {
  const { rows } = await client.query<{ server_version: string }>("show server_version");
  return rows[0]?.server_version ?? "";
}
