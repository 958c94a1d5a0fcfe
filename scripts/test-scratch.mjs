// Where tests write: in memory where that can be, because a disk is waited for at every commit and every `initdb`, and
// nothing of it outlives the run.
import { spawnSync } from "node:child_process";
import { chmod, mkdtemp, readdir, rm, statfs, writeFile } from "node:fs/promises";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

const MEMORY = "/dev/shm";
const PREFIX = "bellhop-test-";
/** Four times what a run of everything was seen to hold at once. */
const ROOM_BYTES = 4 * 2 ** 30;

/** A directory for this run alone, which becomes the place of temporary files for it and all that it starts. */
export async function makeScratch() {
  await removeLeftOver();
  const directory = (await tryMemory()) ?? (await make(tmpdir()));
  process.env.TMPDIR = directory;
  return directory;
}

async function tryMemory() {
  const { bavail = 0, bsize = 0 } = await statfs(MEMORY).catch(() => ({}));
  if (bavail * bsize < ROOM_BYTES || freemem() < ROOM_BYTES) return null;
  const directory = await make(MEMORY).catch(() => null);
  if (directory === null || (await canRunPrograms(directory))) return directory;
  await rm(directory, { recursive: true });
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

/** Memory that a killed run had taken would stay taken. */
async function removeLeftOver() {
  for (const name of await readdir(MEMORY).catch(() => [])) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid)))
      await rm(join(MEMORY, name), { recursive: true, force: true });
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
