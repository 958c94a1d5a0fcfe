import pg from "pg";
import { guarded } from "./database.ts";
import { CONNECT_TIMEOUT_MS, type ConnectionSettings, clientConfig } from "./pool.ts";

/** Other users of a pooler may take a backend in between; that they do so each time is not to be expected. */
const ROUNDS = 5;

/**
 * Refuses a connection pooler that lends a backend for a transaction at a time. Bellhop's connections are sessions: they
 * prepare statements, set limits for themselves and listen. There some of the requests would fail, others would run
 * under the settings of a stranger, and hints would be lost without a word.
 */
export async function assertOwnSessions(connection: ConnectionSettings): Promise<void> {
  const [one, other] = [open(connection), open(connection)];
  try {
    if (await guarded(() => shareBackend(one, other))) {
      throw new Error(
        "The connection pooler in DATABASE_URL lends its connections for a transaction at a time " +
          "(PgBouncer: pool_mode = transaction or statement), and Bellhop needs sessions. Let DATABASE_URL name " +
          "PostgreSQL itself, or a pool with pool_mode = session and room for 22 connections per node.",
      );
    }
  } finally {
    await Promise.all([one.close(), other.close()]);
  }
}

interface Session {
  ask(text: string): Promise<number>;
  close(): Promise<void>;
}

/** True if both were seen on one backend, or one of them on two. */
async function shareBackend(one: Session, other: Session): Promise<boolean> {
  const WHICH = "select pg_backend_pid() as pid";
  for (let round = 0; round < ROUNDS; round += 1) {
    const mine = await one.ask(WHICH);
    await other.ask("begin");
    const theirs = await other.ask(WHICH);
    if (theirs === mine || (await one.ask(WHICH)) !== mine) return true;
    await other.ask("rollback");
  }
  return false;
}

/** Without our usual settings: on a borrowed backend they would stay behind for its next user. */
function open(connection: ConnectionSettings): Session {
  const client = new pg.Client({
    ...clientConfig(connection, "bellhop-start"),
    query_timeout: CONNECT_TIMEOUT_MS,
  });
  client.on("error", () => {});
  let connected: Promise<unknown> | null = null;
  return {
    async ask(text) {
      connected ??= client.connect();
      await connected;
      const { rows } = await client.query<{ pid?: number }>(text);
      return rows[0]?.pid ?? 0;
    },
    close: () => client.end().catch(() => {}),
  };
}

/** The driver's errors where a server accepted the connection and then said nothing. */
export function isSilence(error: unknown): boolean {
  return error instanceof Error && /^(timeout expired|Query read timeout)$/.test(error.message);
}
