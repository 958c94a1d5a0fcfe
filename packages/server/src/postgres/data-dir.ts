import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { access, chmod, mkdir, readdir, readFile, realpath, stat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { exists } from "./disk.ts";
import { chooseIdentity, findClosedDirectory } from "./identity.ts";

const SHELTER = "/var/lib/bellhop";
const ROOT = 0;

/** `closed` is the inaccessible directory that made us use another place; null if the wanted one is used. */
export type DataDir = { path: string; closed: string | null };

/**
 * Chooses and creates the data directory. Root runs PostgreSQL as another user; if that user cannot reach the wanted
 * directory, the data goes to a directory under /var/lib/bellhop.
 *
 * The answer for a wanted path does not change once a cluster exists: a later chmod must not make the data seem to
 * vanish. Code that keeps a file in the data directory calls this first.
 */
export async function resolveDataDir(wanted: string): Promise<DataDir> {
  const absolute = resolve(wanted);
  if (process.getuid?.() !== ROOT) return { path: await makeOwnDirectory(absolute, 0o700), closed: null };

  const shelter = shelterOf(absolute);
  const real = await realPathOf(absolute);
  const closed = await findObstacle(real);
  const sheltered = await exists(join(shelter, "pgdata"));
  if (closed === null && (!sheltered || (await exists(join(real, "pgdata"))))) {
    return { path: await makeOwnDirectory(real, 0o711), closed };
  }
  const blocked = await findObstacle(shelter);
  if (blocked !== null) {
    throw new Error(
      `PostgreSQL cannot run as root, and the user it runs as instead cannot enter ${closed ?? real} or ${blocked}. ` +
        "Set BELLHOP_DATA_DIR to a directory whose parents are open to others (mode 0711), or set DATABASE_URL.",
    );
  }
  return { path: await makeOwnDirectory(shelter, 0o711), closed: closed ?? real };
}

/**
 * The data directory of an earlier start, for commands that need existing data. Unlike `resolveDataDir` it creates
 * nothing: a command run in the wrong place must not leave an empty directory there.
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
  // Root's PostgreSQL user owns the cluster, but not the directory around it.
  const isOurs = (await ownerOf(join(dir, "pgdata"))) === uid && (await isWritable(dir));
  if (isOurs) return dir;
  throw new Error(
    `The data in ${dir} belongs to another user: run this as ${await nameOf(await ownerOf(dir))}.`,
  );
}

/**
 * Data directories of earlier starts on this machine, as far as visible: with the usual name here, above, or beside the
 * package, and root's place.
 */
export async function findOtherData(own: string, usualName: string): Promise<string[]> {
  const packageRoot = fileURLToPath(new URL("../..", import.meta.url));
  const around = [...waysUp(process.cwd()), ...waysUp(packageRoot)].map((dir) => join(dir, usualName));
  const shelters = await readdir(SHELTER).catch(() => []);
  const places = [...around, SHELTER, ...shelters.map((entry) => join(SHELTER, entry))];
  const found = new Set<string>();
  for (const place of places) if (await exists(join(place, "pgdata"))) found.add(await realpath(place));
  found.delete(own);
  return [...found];
}

function waysUp(dir: string): string[] {
  return dirname(dir) === dir ? [dir] : [dir, ...waysUp(dirname(dir))];
}

/** The place of root's data if PostgreSQL's user cannot reach the wanted directory. */
function shelterOf(absolute: string): string {
  return join(SHELTER, createHash("sha256").update(absolute).digest("hex").slice(0, 8));
}

async function makeOwnDirectory(path: string, mode: number): Promise<string> {
  try {
    const made = await makeDirectory(path, mode);
    await access(made, constants.W_OK | constants.X_OK);
    return made;
  } catch (cause) {
    const advice = (await isReadOnly(path))
      ? "its file system is mounted read-only. Mount it writable, or set BELLHOP_DATA_DIR to another directory."
      : `not as the user with id ${process.getuid?.()}. ` +
        "Give that user the directory, run Bellhop as the user it belongs to, or set BELLHOP_DATA_DIR to another.";
    throw new Error(`Bellhop cannot write to its data directory ${path}: ${advice}`, { cause });
  }
}

/** Checks the file system itself: mkdir fails with other codes too. */
async function isReadOnly(path: string): Promise<boolean> {
  return access(await deepestExisting(path), constants.W_OK).then(
    () => false,
    (error: unknown) => error instanceof Error && "code" in error && error.code === "EROFS",
  );
}

async function findObstacle(path: string): Promise<string | null> {
  const identity = await chooseIdentity(join(path, "pgdata"));
  const closed = await findClosedDirectory(await deepestExisting(path), identity);
  if (closed !== path || !(await isOurs(path))) return closed;
  // Our own inaccessible directory is made accessible instead of leaving it: in a container the other place may not
  // persist.
  await chmod(path, 0o711);
  return null;
}

/** An inaccessible directory with another user's files, such as /root, must not be changed. */
async function isOurs(dir: string): Promise<boolean> {
  const entries = await readdir(dir);
  return entries.length === 0 || entries.includes("owners") || entries.includes("pgdata");
}

async function realPathOf(path: string): Promise<string> {
  const existing = await deepestExisting(path);
  return join(await realpath(existing), relative(existing, path));
}

async function deepestExisting(path: string): Promise<string> {
  return (await exists(path)) ? path : deepestExisting(dirname(path));
}

/** Every created directory gets this mode, regardless of the umask. */
async function makeDirectory(path: string, mode: number): Promise<string> {
  const first = await mkdir(path, { recursive: true });
  for (let made = path; first !== undefined && made.length >= first.length; made = dirname(made)) {
    await chmod(made, mode);
  }
  return realpath(path);
}

/** Another user's directory may be inaccessible: its existence is enough to report its owner. */
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

/** Null if nothing is visible. */
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
