import { access, chown, open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Flushes a file, or the names in a directory, to the disk. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Gives a whole tree to a user. Links are left alone: what they point at may not be ours to give. */
export async function chownTree(path: string, owner: { uid: number; gid: number }): Promise<void> {
  await chown(path, owner.uid, owner.gid);
  if (!(await stat(path)).isDirectory()) return;
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (!entry.isSymbolicLink()) await chownTree(join(path, entry.name), owner);
  }
}
