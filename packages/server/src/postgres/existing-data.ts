import { constants } from "node:fs";
import { access, readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { resolveDataDir, shelterOf } from "./data-dir.ts";

const ROOT = 0;

/**
 * The directory in which an earlier start has put its data, for a command that only makes sense on such data. Unlike
 * `resolveDataDir` it makes nothing: a command run in the wrong place must not leave an empty house there.
 */
export async function findDataDir(wanted: string): Promise<string> {
  const absolute = resolve(wanted);
  const uid = process.getuid?.() ?? ROOT;
  const dir = await whereDataLies(absolute);
  if (dir === null)
    throw new Error(
      `There is no Bellhop database in ${absolute} yet. Start Bellhop once, or name another place with ` +
        "BELLHOP_DATA_DIR or DATABASE_URL.",
    );
  if (uid === ROOT) return (await resolveDataDir(wanted)).path;
  // The user as whom root's PostgreSQL runs owns the cluster, but not the directory around it.
  const isOurs = (await ownerOf(join(dir, "pgdata"))) === uid && (await isWritable(dir));
  if (isOurs) return dir;
  throw new Error(
    `The data in ${dir} belongs to another user: run this as ${await nameOf(await ownerOf(dir))}.`,
  );
}

/** A directory of someone else's may be closed to us: that it is there is all we see, and enough to say whose it is. */
async function whereDataLies(absolute: string): Promise<string | null> {
  const isClosed = (await ownerOf(absolute)) !== null && !(await isWritable(absolute));
  if (isClosed || (await ownerOf(join(absolute, "pgdata"))) !== null) return absolute;
  const shelter = shelterOf(absolute);
  return (await ownerOf(join(shelter, "pgdata"))) === null ? null : shelter;
}

async function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Null where there is nothing that we can see. */
async function ownerOf(path: string): Promise<number | null> {
  return stat(path).then(
    ({ uid }) => uid,
    () => null,
  );
}

async function nameOf(uid: number | null): Promise<string> {
  if (uid === ROOT || uid === null) return "root";
  const users = await readFile("/etc/passwd", "utf8").catch(() => "");
  const line = users.split("\n").find((entry) => entry.split(":")[2] === String(uid));
  return line?.split(":")[0] ?? `the user with id ${uid}`;
}
