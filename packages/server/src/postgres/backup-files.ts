import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { syncPath } from "./disk.ts";

/** What a backup holds, beside its files: by it a restore tells that nothing is missing or changed. */
export interface Manifest {
  readonly format: 1;
  readonly bellhop: string;
  /** Of PostgreSQL, whole: another major version cannot read the files. */
  readonly postgres: string;
  readonly createdAt: string;
  readonly files: Readonly<Record<string, FileEntry>>;
}

export interface FileEntry {
  readonly size: number;
  readonly sha256: string;
}

/** PostgreSQL rebuilds the contents of these at every start; the WAL is copied separately. */
const EMPTY_DIRECTORIES = new Set([
  "pg_wal",
  "pg_replslot",
  "pg_dynshmem",
  "pg_notify",
  "pg_serial",
  "pg_snapshots",
  "pg_stat_tmp",
  "pg_subtrans",
]);
const LEFT_OUT =
  /^(postmaster\.(pid|opts)|pg_internal\.init(\.\d+)?|pgsql_tmp.*|backup_label|tablespace_map)$/;

/** Names below a directory: directories, and files. What vanishes meanwhile was not needed. */
export interface Tree {
  readonly directories: readonly string[];
  readonly files: readonly string[];
}

export async function listCluster(pgdata: string): Promise<Tree> {
  const directories: string[] = [];
  const files: string[] = [];
  async function walk(below: string): Promise<void> {
    const entries = await readdir(join(pgdata, below), { withFileTypes: true }).catch(ignoreMissing([]));
    for (const entry of entries) {
      const name = below === "" ? entry.name : `${below}/${entry.name}`;
      if (LEFT_OUT.test(entry.name)) continue;
      if (entry.isDirectory()) {
        directories.push(name);
        if (!EMPTY_DIRECTORIES.has(name)) await walk(name);
      } else if (entry.isFile()) files.push(name);
    }
  }
  await walk("");
  return { directories, files };
}

/** Copies a file and flushes the copy; null where it is gone. */
export async function copyFile(from: string, to: string): Promise<FileEntry | null> {
  const hash = createHash("sha256");
  let size = 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      size += chunk.length;
      done(null, chunk);
    },
  });
  try {
    await pipeline(createReadStream(from), meter, createWriteStream(to, { mode: 0o600, flush: true }));
  } catch (error) {
    return ignoreMissing(null)(error);
  }
  return { size, sha256: hash.digest("hex") };
}

export async function writeEntry(path: string, text: string): Promise<FileEntry> {
  await writeFile(path, text, { mode: 0o600, flush: true });
  return { size: Buffer.byteLength(text), sha256: createHash("sha256").update(text).digest("hex") };
}

export async function makeDirectories(root: string, names: readonly string[]): Promise<void> {
  for (const name of names) await mkdir(join(root, name), { recursive: true, mode: 0o700 });
}

/** So that a power cut does not take a name back. */
export async function syncDirectories(root: string, names: readonly string[]): Promise<void> {
  for (const name of names) await syncPath(join(root, name));
  await syncPath(root);
  await syncPath(dirname(root)).catch(() => {});
}

function ignoreMissing<Value>(instead: Value) {
  return (error: unknown): Value => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return instead;
    throw error;
  };
}
