import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { giveTo } from "./disk.ts";
import { findClosedDirectory, type Identity } from "./identity.ts";
import type { Passwords } from "./passwords.ts";

/** Only names the socket file: nothing listens on TCP. */
export const SOCKET_PORT = 5432;

/** How to reach the embedded server; `host` is the directory of its socket. */
export type EmbeddedConnection = {
  host: string;
  port: number;
  user: string;
  database: string;
  password?: string;
};

/** The cluster's superuser: sets up the other role and is not used otherwise. */
export const ADMIN_ROLE = "bellhop";
/** Owns the database and has no other rights on the server. */
const APP_ROLE = "bellhop_app";
const DATABASE = "bellhop";

export function connectionTo(socketDir: string, { app }: Passwords, port = SOCKET_PORT): EmbeddedConnection {
  return { host: socketDir, port, user: APP_ROLE, password: app, database: DATABASE };
}

export function adminConnectionTo(
  socketDir: string,
  { admin }: Passwords,
  port = SOCKET_PORT,
): EmbeddedConnection {
  return { host: socketDir, port, user: ADMIN_ROLE, password: admin, database: DATABASE };
}

const PREFIX = "bellhop-pg-";
const RANDOM_LENGTH = 6;
/** The limit of a socket's path is 107 bytes on Linux and 103 on macOS: the smaller serves both. */
const PATH_LIMIT = 103;

/** Creates a private directory for the socket: a user who cannot enter it cannot even try a password. */
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

/** Removes a socket directory of this or an earlier run; other paths are left alone. */
export async function removeSocketDir(dir: string): Promise<void> {
  if (basename(dir).startsWith(PREFIX)) await rm(dir, { recursive: true, force: true });
}

/**
 * Removes the files of a killed postmaster from its socket directory. Its lock file holds a pid; if another process
 * reuses that pid, PostgreSQL would refuse to start.
 */
export async function clearSocketDir(dir: string): Promise<void> {
  await rm(join(dir, `.s.PGSQL.${SOCKET_PORT}`), { force: true });
  await rm(join(dir, `.s.PGSQL.${SOCKET_PORT}.lock`), { force: true });
}
