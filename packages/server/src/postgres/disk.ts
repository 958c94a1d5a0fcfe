import { access, chmod, chown, open, readdir, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Identity } from "./identity.ts";

/** Flushes a file, or the names in a directory, to the disk. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The free space for an ordinary user. */
export async function freeDiskBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

/** The used part of the disk, as an ordinary user sees it. */
export async function usedDiskPercent(path: string): Promise<number> {
  const { blocks, bfree, bavail } = await statfs(path);
  const used = blocks - bfree;
  return (100 * used) / Math.max(1, used + bavail);
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Removes our own tree, even with read-only directories. */
export async function removeTree(path: string): Promise<void> {
  const remove = () => rm(path, { recursive: true, force: true });
  await remove().catch(async () => {
    await openDirectories(path);
    await remove();
  });
}

async function openDirectories(path: string): Promise<void> {
  await chmod(path, 0o700);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await openDirectories(join(path, entry.name));
  }
}

/** Gives a path to the user that PostgreSQL runs as; in a container even root may lack that right. */
export async function giveTo(owner: Identity, path: string): Promise<void> {
  if (owner === null) return;
  try {
    await chown(path, owner.uid, owner.gid);
  } catch (cause) {
    throw new Error(
      `Root may not give ${path} to the user with id ${owner.uid}, as whom the embedded PostgreSQL would run. ` +
        "Run Bellhop as an ordinary user, allow CHOWN, SETUID and SETGID, or set DATABASE_URL.",
      { cause },
    );
  }
}

/**
 * The same for a whole tree, its root last: an interrupted start then repeats it. Links are skipped: their targets may
 * not be ours.
 */
export async function giveTreeTo(owner: Identity, path: string): Promise<void> {
  if ((await stat(path)).isDirectory()) {
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (!entry.isSymbolicLink()) await giveTreeTo(owner, join(path, entry.name));
    }
  }
  await giveTo(owner, path);
}
