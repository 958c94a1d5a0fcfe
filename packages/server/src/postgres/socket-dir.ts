import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { giveTo } from "./disk.ts";
import { findClosedDirectory, type Identity } from "./identity.ts";

/** Only names the socket file: nothing listens on TCP. */
export const SOCKET_PORT = 5432;

/** How to reach the embedded server; `host` is the directory of its socket. */
export type EmbeddedConnection = { host: string; port: number; user: "bellhop"; database: "bellhop" };

export function connectionTo(socketDir: string, port = SOCKET_PORT): EmbeddedConnection {
  return { host: socketDir, port, user: "bellhop", database: "bellhop" };
}

const PREFIX = "bellhop-pg-";
const RANDOM_LENGTH = 6;
/** The limit of a socket's path is 107 bytes on Linux and 103 on macOS: the smaller serves both. */
const PATH_LIMIT = 103;

/** Makes a private directory for the socket: with trust authentication, entering it is the permission. */
export async function makeSocketDir(identity: Identity): Promise<string> {
  const dir = await mkdtemp(join(await chooseParent(identity), PREFIX));
  await giveTo(identity, dir);
  return dir;
}

async function chooseParent(identity: Identity): Promise<string> {
  const parent = await realpath(tmpdir()).catch(() => "/tmp");
  const socket = join(parent, `${PREFIX}${"x".repeat(RANDOM_LENGTH)}`, `.s.PGSQL.${SOCKET_PORT}`);
  // PostgreSQL reads its setting as a list: a comma or a quote in the path would split it.
  const usable = Buffer.byteLength(socket) <= PATH_LIMIT && !/[,"']/.test(socket);
  if (!usable || (await findClosedDirectory(parent, identity)) !== null) return realpath("/tmp");
  return parent;
}

/** Removes a socket directory of this or an earlier run; a path not made by us is left alone. */
export async function removeSocketDir(dir: string): Promise<void> {
  if (basename(dir).startsWith(PREFIX)) await rm(dir, { recursive: true, force: true });
}

/**
 * Clears what a killed postmaster left in its socket directory. Its lock file holds a pid; once that pid
 * belongs to another process, PostgreSQL would refuse to start.
 */
export async function clearSocketDir(dir: string): Promise<void> {
  await rm(join(dir, `.s.PGSQL.${SOCKET_PORT}`), { force: true });
  await rm(join(dir, `.s.PGSQL.${SOCKET_PORT}.lock`), { force: true });
}
