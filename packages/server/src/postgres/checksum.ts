import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** The checksums of a package of binaries, each a SHA-256. */
export type Checksums = {
  readonly version: string;
  /** Of every file in it, by name. */
  readonly tree: string;
  readonly programs: Readonly<Record<string, string>>;
};

/** The programs that are run: few and small enough for a check at every start. */
export const PROGRAMS = ["initdb", "pg_ctl", "postgres"] as const;

/** Whether these are the programs of this release. */
export async function hasPrograms(runtimeDir: string, { programs }: Checksums): Promise<boolean> {
  for (const program of PROGRAMS) {
    const found = await hashFile(join(runtimeDir, "bin", program)).catch(() => null);
    if (found === null || found !== programs[program]) return false;
  }
  return true;
}

export async function hashFile(path: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(path))
    .digest("hex");
}

/** Of a directory's files with their names, in the order of these. Links are left out: they are made, not brought. */
export async function hashTree(directory: string): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const hash = createHash("sha256");
  for (const path of paths.sort()) {
    const name = path.slice(directory.length + 1).replaceAll("\\", "/");
    hash.update(`${name}\0${await hashFile(path)}\n`);
  }
  return hash.digest("hex");
}
