import { readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** The user PostgreSQL runs as; `null` means as ourselves. */
export type Identity = { uid: number; gid: number } | null;

const NOBODY = 65534;
const ROOT = 0;

/**
 * PostgreSQL refuses to run as root, so root runs it as the user that already owns the cluster (a user who
 * first ran Bellhop without sudo keeps the data), or else as `nobody`. The machine's users are never touched.
 */
export async function chooseIdentity(pgdata: string): Promise<Identity> {
  if (process.getuid?.() !== ROOT) return null;
  const cluster = await stat(pgdata).catch(() => null);
  if (cluster !== null && cluster.uid !== ROOT) return { uid: cluster.uid, gid: cluster.gid };
  return findNobody(await readFile("/etc/passwd", "utf8").catch(() => ""));
}

export function findNobody(passwd: string): { uid: number; gid: number } {
  const fields = passwd.match(/^nobody:.*$/m)?.[0].split(":") ?? [];
  return { uid: parseId(fields[2]), gid: parseId(fields[3]) };
}

/** macOS writes the ids of nobody as -2: chown wants them unsigned. */
function parseId(field: string | undefined): number {
  const id = Number.parseInt(field ?? "", 10);
  return Number.isNaN(id) ? NOBODY : id >>> 0;
}

/** The part of spawn's options that makes the child run as this user; spawn wants the ids signed. */
export function spawnIdentity(identity: Identity): { uid?: number; gid?: number } {
  return identity === null ? {} : { uid: identity.uid | 0, gid: identity.gid | 0 };
}

/**
 * The first directory on the way down to `path` (itself included) which this user cannot pass through.
 * Expects a real path: behind a link lies another way down.
 */
export async function findClosedDirectory(path: string, identity: Identity): Promise<string | null> {
  if (identity === null) return null;
  const parent = dirname(path);
  const closed = parent === path ? null : await findClosedDirectory(parent, identity);
  if (closed !== null) return closed;
  const { mode, uid, gid } = await stat(path);
  const passBit = uid === identity.uid ? 0o100 : gid === identity.gid ? 0o010 : 0o001;
  return (mode & passBit) === 0 ? path : null;
}
