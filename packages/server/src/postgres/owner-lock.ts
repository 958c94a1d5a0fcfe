/**
 * One Bellhop per data directory, decided before any file in it is touched.
 *
 * The races: two starts at once; a start while the owner's PostgreSQL is down and its advisory lock gone with
 * it; two containers on one volume, where a pid means nothing and PostgreSQL itself would start twice.
 *
 * The lock is a listening unix socket in the data directory: the kernel closes it when we die, however we die,
 * and it answers across pid and network namespaces. Each contender publishes its own socket first and only
 * then looks at the others, so of any two the later one sees the earlier one. Among contenders the lower name
 * wins; the winner waits until the others have gone.
 */
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, rename, rm, symlink } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DataDirInUse } from "./data-dir-in-use.ts";
import type { Log } from "./log.ts";
import { askOwner, type Owner, type Standing } from "./owner-question.ts";

export type OwnerLock = { release(): Promise<void> };

const SUFFIX = ".sock";
/** Some shared and network file systems cannot hold a socket; the advisory lock in PostgreSQL remains. */
const NO_SOCKETS_HERE = new Set(["ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EINVAL", "EPERM"]);

export async function takeOwnerLock(dataDir: string, log: Log): Promise<OwnerLock> {
  const owners = join(dataDir, "owners");
  await mkdir(owners, { recursive: true, mode: 0o700 });
  return withShortPath(owners, (path) => contend(dataDir, path, log));
}

/** Who owns the data directory, or is about to. Only asks: a start that is under way is not made to lose by it. */
export async function findOwner(dataDir: string): Promise<Owner | null> {
  const owners = join(dataDir, "owners");
  const names = await readdir(owners).catch(() => []);
  return withShortPath(owners, async (path) => {
    for (const name of names) {
      const owner = name.endsWith(SUFFIX) ? await askOwner(join(path, name)) : "dead";
      if (owner !== "dead" && owner !== "leaving") return owner;
    }
    return null;
  });
}

/** A socket's path may have 107 bytes, and the data directory's alone may have more: a short link leads there. */
async function withShortPath<T>(owners: string, work: (path: string) => Promise<T>): Promise<T> {
  const link = await mkdtemp("/tmp/bellhop-own-");
  try {
    await symlink(owners, join(link, "o"));
    return await work(join(link, "o"));
  } finally {
    await rm(link, { recursive: true, force: true });
  }
}

async function contend(dataDir: string, owners: string, log: Log): Promise<OwnerLock> {
  let standing: Standing = "contending";
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.end(JSON.stringify({ pid: process.pid, host: hostname(), standing }), () => socket.destroy());
  });
  const name = randomBytes(8).toString("hex") + SUFFIX;
  // Bound but not yet listening, a socket looks dead: it gets its real name only once it answers.
  const unheard = join(owners, `${name}.new`);
  try {
    await listen(server, unheard);
  } catch (error) {
    if (!NO_SOCKETS_HERE.has(codeOf(error))) throw error;
    log("postgres.owner_lock_unsupported", { dataDir, code: codeOf(error) });
    return { release: async () => {} };
  }
  await rename(unheard, join(owners, name));
  const release = async () => {
    await rm(join(dataDir, "owners", name), { force: true });
    await new Promise((resolve) => server.close(resolve));
  };
  try {
    await outlastOthers(dataDir, owners, name);
  } catch (error) {
    await release();
    throw error;
  }
  standing = "owner";
  return { release };
}

async function outlastOthers(dataDir: string, owners: string, own: string): Promise<void> {
  for (let waiting = true; waiting; ) {
    waiting = false;
    for (const name of await readdir(owners)) {
      if (name === own || !name.endsWith(SUFFIX)) continue;
      const other = await askOwner(join(owners, name));
      // Names are never used twice, so one that is dead stays dead and may be removed by anyone.
      if (other === "dead") await rm(join(owners, name), { force: true });
      else if (other === "leaving" || (other.standing === "contending" && own < name)) waiting = true;
      else throw new DataDirInUse(dataDir, other);
    }
    if (waiting) await sleep(10);
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
