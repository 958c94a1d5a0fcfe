import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** The user PostgreSQL runs as; null means our own. */
export type Identity = { uid: number; gid: number } | null;

const NOBODY = 65534;
const ROOT = 0;

/**
 * User ids that neither distributions nor systemd assign: unlike `nobody`, only our processes run as them. The
 * machine's users are never changed: an id needs no name.
 */
const OWN_IDS = { first: 60_578, count: 606 };

/**
 * PostgreSQL refuses to run as root, so root runs it as the user that already owns the cluster (a user who first ran
 * Bellhop without sudo keeps the data), or else as a separate user id for this data directory. A cluster that
 * `nobody` owns, because it was made in a container without that id, moves to it.
 */
export async function chooseIdentity(pgdata: string): Promise<Identity> {
  if (process.getuid?.() !== ROOT) return null;
  const passwd = await readFile("/etc/passwd", "utf8").catch(() => "");
  const nobody = findNobody(passwd);
  const cluster = await stat(pgdata).catch(() => null);
  if (cluster !== null && cluster.uid !== ROOT && cluster.uid !== nobody.uid) {
    return { uid: cluster.uid, gid: cluster.gid };
  }
  const own = chooseOwnId(pgdata, passwd);
  const maps = await Promise.all(["uid_map", "gid_map"].map(readIdMap));
  return maps.every((map) => isMapped(own, map)) ? { uid: own, gid: own } : nobody;
}

/** Stable for one data directory as long as the machine's users are the same; other directories get other ids. */
export function chooseOwnId(pgdata: string, passwd: string): number {
  const taken = new Set(passwd.split("\n").map((line) => Number(line.split(":")[2])));
  const start = createHash("sha256").update(pgdata).digest().readUInt32BE(0);
  for (let step = 0; step < OWN_IDS.count; step += 1) {
    const id = OWN_IDS.first + ((start + step) % OWN_IDS.count);
    if (!taken.has(id)) return id;
  }
  return NOBODY;
}

/** A rootless container has only some ids. Outside Linux, all exist. */
async function readIdMap(name: string): Promise<string | null> {
  return readFile(`/proc/self/${name}`, "utf8").catch(() => null);
}

export function isMapped(id: number, map: string | null): boolean {
  if (map === null) return true;
  return map.split("\n").some((line) => {
    const [first = Number.NaN, , count = 0] = line.trim().split(/\s+/).map(Number);
    return id >= first && id < first + count;
  });
}

/** initdb requires a user with a name, which our id does not have; it runs as `nobody` for those seconds. */
export async function identityForInitdb(identity: Identity): Promise<Identity> {
  if (identity === null) return null;
  const passwd = await readFile("/etc/passwd", "utf8").catch(() => "");
  const isNamed = passwd.split("\n").some((line) => line.split(":")[2] === String(identity.uid));
  return isNamed ? identity : findNobody(passwd);
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

/** The first directory on the path (including `path`) that this user cannot pass. Expects a real path, without links. */
export async function findClosedDirectory(path: string, identity: Identity): Promise<string | null> {
  if (identity === null) return null;
  const parent = dirname(path);
  const closed = parent === path ? null : await findClosedDirectory(parent, identity);
  if (closed !== null) return closed;
  const { mode, uid, gid } = await stat(path);
  const passBit = uid === identity.uid ? 0o100 : gid === identity.gid ? 0o010 : 0o001;
  return (mode & passBit) === 0 ? path : null;
}
