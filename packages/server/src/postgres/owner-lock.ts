/**
 * One Bellhop per data directory, decided before any file in it is touched.
 *
 * The races: two starts at once; a start while the owner's PostgreSQL is down; two containers on one volume, where
 * a pid means nothing and PostgreSQL itself would start twice.
 *
 * The lock is a listening unix socket in the data directory: the kernel closes it when we die, however we die,
 * and it answers across pid and network namespaces. Each contender publishes its own socket first and only
 * then looks at the others, so of any two the later one sees the earlier one. Among contenders the lower name
 * wins; the winner waits until the others have gone.
 */
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, rename, rm, symlink } from "node:fs/promises";
import { createConnection, createServer, type Server } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "./log.ts";

/** The refusal of a second Bellhop on one data directory. */
export class DataDirInUse extends Error {
  override name = "DataDirInUse";

  constructor(dataDir: string, owner: { pid: number | null; host: string | null }) {
    const name =
      owner.pid === null ? "" : ` (pid ${owner.pid}${owner.host === null ? "" : ` on ${owner.host}`})`;
    super(
      `Another Bellhop${name} is using the data directory ${dataDir}. ` +
        "Stop it first, or set BELLHOP_DATA_DIR to another directory.",
    );
  }
}

type OwnerState = "contending" | "owner";

/** The process behind an owner's socket. One that is alive but does not answer counts as the owner. */
export type Owner = { pid: number | null; host: string | null; state: OwnerState };

export type OwnerLock = { release(): Promise<void> };

const SUFFIX = ".sock";
/**
 * A paused process (SIGSTOP, a busy event loop) still accepts connections and keeps its right, so silence does not mean
 * death.
 */
const PATIENCE_MS = 1000;
/** Some shared and network file systems do not support sockets; there PostgreSQL's connections decide (orphan.ts). */
const NO_SOCKETS_HERE = new Set(["ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EINVAL", "EPERM"]);

export async function takeOwnerLock(dataDir: string, log: Log): Promise<OwnerLock> {
  const owners = join(dataDir, "owners");
  await mkdir(owners, { recursive: true, mode: 0o700 });
  return withShortPath(owners, (path) => contend(dataDir, path, log));
}

/** The process that owns the data directory, or is about to. Only asks: it does not affect a running start. */
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

/** A socket's path may have 107 bytes, and the data directory's may be longer: a short link leads there. */
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
  let state: OwnerState = "contending";
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.end(JSON.stringify({ pid: process.pid, host: hostname(), state }), () => socket.destroy());
  });
  const name = randomBytes(8).toString("hex") + SUFFIX;
  // A bound socket that does not listen yet looks dead: it gets its real name only once it answers.
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
  state = "owner";
  return { release };
}

async function outlastOthers(dataDir: string, owners: string, own: string): Promise<void> {
  for (let waiting = true; waiting; ) {
    waiting = false;
    for (const name of await readdir(owners)) {
      if (name === own || !name.endsWith(SUFFIX)) continue;
      const other = await askOwner(join(owners, name));
      // Names are never reused, so a dead one stays dead and any contender may remove it.
      if (other === "dead") await rm(join(owners, name), { force: true });
      else if (other === "leaving" || (other.state === "contending" && own < name)) waiting = true;
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

/** `leaving`: it closed the connection before answering, so it must be asked again. */
function askOwner(path: string): Promise<Owner | "dead" | "leaving"> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    let answer = "";
    const settle = (owner: Owner | "dead" | "leaving") => {
      socket.destroy();
      resolve(owner);
    };
    socket.setEncoding("utf8");
    socket.setTimeout(PATIENCE_MS, () => settle(parseOwner("")));
    socket.on("data", (text: string) => {
      answer += text;
    });
    socket.on("end", () => settle(answer === "" ? "leaving" : parseOwner(answer)));
    socket.on("error", (error) => settle(judgeError(error)));
  });
}

function judgeError(error: Error): Owner | "dead" | "leaving" {
  const code = "code" in error ? error.code : "";
  if (code === "ECONNREFUSED" || code === "ENOENT") return "dead";
  return code === "ECONNRESET" || code === "EPIPE" ? "leaving" : parseOwner("");
}

function parseOwner(answer: string): Owner {
  const owner: Owner = { pid: null, host: null, state: "owner" };
  const said = parseJson(answer);
  if (typeof said !== "object" || said === null) return owner;
  if ("pid" in said && typeof said.pid === "number") owner.pid = said.pid;
  if ("host" in said && typeof said.host === "string") owner.host = said.host;
  if ("state" in said && said.state === "contending") owner.state = "contending";
  return owner;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
