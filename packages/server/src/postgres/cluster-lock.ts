import { createHash } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { giveTo } from "./disk.ts";
import type { Identity } from "./identity.ts";
import { hasState, tryConnection, untilDone } from "./running-server.ts";
import type { Settings } from "./settings.ts";
import type { EmbeddedConnection } from "./socket-dir.ts";

const HBA_FILE = "bellhop_hba.conf";
/** A hash of the superuser's current password. */
const MARK_FILE = "bellhop_password";

const LOCKED = "local all all scram-sha-256\n";
const RETRY_MS = 10;

export type ClusterLock = {
  /** To start the server with. */
  settings: Settings;
  /** Once the server runs: sets the superuser's password if necessary, and checks that it is required. */
  close(abandoned: AbortSignal): Promise<void>;
  /** After a role was refused: the next start sets the passwords again. */
  forget(): Promise<void>;
};

export const NO_LOCK: ClusterLock = { settings: {}, close: async () => {}, forget: async () => {} };

/**
 * Requires a password for the cluster, regardless of its own pg_hba.conf: that of a new cluster refuses everybody, and
 * that of a restored copy may trust everybody.
 *
 * A cluster whose superuser has no password, or an unknown one, is started open for that role only, with its socket in
 * a directory that only its own user can enter, and locked before any other work. An interrupted start leaves no mark,
 * and the next one repeats it. (Single-user mode would avoid this, but needs a user with a name.)
 */
export async function prepareLock(deps: {
  readonly pgdata: string;
  readonly identity: Identity;
  readonly admin: EmbeddedConnection;
}): Promise<ClusterLock> {
  const { pgdata, identity, admin } = deps;
  const hbaFile = join(pgdata, HBA_FILE);
  const markFile = join(pgdata, MARK_FILE);
  const mark = createHash("sha256")
    .update(admin.password ?? "")
    .digest("hex");
  const isLocked = (await readFile(markFile, "utf8").catch(() => "")) === mark;
  const write = async (path: string, text: string) => {
    await writeFile(path, text, { mode: 0o600 });
    await giveTo(identity, path);
  };
  await write(hbaFile, isLocked ? LOCKED : `local all ${admin.user} trust\n${LOCKED}`);

  return {
    settings: { hba_file: hbaFile },
    async close(abandoned) {
      if (isLocked) return;
      const server = { ...admin, database: "postgres" };
      await untilDone(() => ask(server, (client) => passwordStatement(client, admin)), abandoned);
      await write(hbaFile, LOCKED);
      await untilDone(() => ask(server, () => "select pg_reload_conf()"), abandoned);
      await waitUntilAsked(server, abandoned);
      await write(markFile, mark);
    },
    forget: () => rm(markFile, { force: true }),
  };
}

function passwordStatement(client: Client, { user, password }: EmbeddedConnection): string {
  return `alter role ${client.escapeIdentifier(user)} with password ${client.escapeLiteral(password ?? "")}`;
}

async function ask(server: EmbeddedConnection, statement: (client: Client) => string): Promise<void> {
  const client = new Client({ ...server, ssl: false });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query(statement(client));
  } finally {
    await client.end().catch(() => {});
  }
}

/** The server reloads its file shortly after the signal. */
async function waitUntilAsked(admin: EmbeddedConnection, abandoned: AbortSignal): Promise<void> {
  const stranger = { ...admin, password: "not the password" };
  for (;;) {
    abandoned.throwIfAborted();
    if (hasState(await tryConnection(stranger), "28P01")) return;
    await sleep(RETRY_MS, undefined, { signal: abandoned }).catch(() => {});
  }
}
