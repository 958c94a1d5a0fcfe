// Where tests write: in memory where that can be, because a disk is waited for at every commit and every `initdb`, and
// nothing of it outlives the run.
import { spawnSync } from "node:child_process";
import { chmod, lstat, mkdtemp, readdir, rm, rmdir, statfs, writeFile } from "node:fs/promises";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

const MEMORY = "/dev/shm";
const PREFIX = "bellhop-test-";
/** Four times what a run of everything was seen to hold at once. */
const ROOM_BYTES = 4 * 2 ** 30;

/** A directory for this run alone, which becomes the place of temporary files for it and all that it starts. */
export async function makeScratch() {
  for (const parent of new Set([MEMORY, tmpdir()])) await removeLeftovers(parent);
  const directory = (await tryMemory()) ?? (await make(tmpdir()));
  process.env.TMPDIR = directory;
  return directory;
}

async function tryMemory() {
  const { bavail = 0, bsize = 0 } = await statfs(MEMORY).catch(() => ({}));
  if (bavail * bsize < ROOM_BYTES || freemem() < ROOM_BYTES) return null;
  const directory = await make(MEMORY).catch(() => null);
  if (directory === null || (await canRunPrograms(directory))) return directory;
  await removeScratch(directory);
  return null;
}

/** Others may enter: PostgreSQL runs as another user where the tests run as root. */
async function make(parent) {
  const directory = await mkdtemp(join(parent, `${PREFIX}${process.pid}-`));
  await chmod(directory, 0o1777);
  return directory;
}

/** Containers have it mounted `noexec`. */
async function canRunPrograms(directory) {
  const program = join(directory, "program");
  await writeFile(program, "#!/bin/sh\n", { mode: 0o755 });
  const { status } = spawnSync(program);
  await rm(program);
  return status === 0;
}

/** Memory that a killed run had taken would stay taken. What cannot be removed, another user's for one, is left, and named. */
export async function removeLeftovers(parent) {
  for (const name of await readdir(parent).catch(() => [])) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) await removeScratch(join(parent, name));
  }
}

/** Removes all of a run's files that can be removed. A test run does not fail for the others. */
export async function removeScratch(directory) {
  const [first, ...others] = await removeTree(directory);
  if (first === undefined) return;
  const more = others.length === 0 ? "" : ` (${others.length} more below ${directory})`;
  process.stderr.write(`Left behind, as it could not be removed: ${first.path}: ${first.code}${more}\n`);
}

/** What could not be removed, and why. Directories without the right to write get it first. */
async function removeTree(path) {
  const { isDirectory } = await lstat(path).then(
    (found) => ({ isDirectory: found.isDirectory() }),
    () => ({ isDirectory: false }),
  );
  if (!isDirectory) return tell(path, rm(path, { force: true }));
  await chmod(path, 0o700).catch(() => {});
  const left = [];
  for (const name of await readdir(path).catch(() => [])) left.push(...(await removeTree(join(path, name))));
  return left.length > 0 ? left : tell(path, rmdir(path));
}

function tell(path, removal) {
  return removal.then(
    () => [],
    ({ code }) => (code === "ENOENT" ? [] : [{ path, code }]),
  );
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
