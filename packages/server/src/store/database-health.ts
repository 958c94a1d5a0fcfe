import { Problem } from "../domain/problem.ts";
import { type Database, statement } from "./sql.ts";

/** Whether a database answers, measured by the statements that run anyway. */
export interface DatabaseHealth {
  /** The same database, monitored. */
  readonly database: Database;
  /** Milliseconds without an answer although one was due; 0 if the last statement was answered. */
  unansweredMs(): number;
}

export function watchDatabaseHealth(database: Database, monotonicMs: () => number): DatabaseHealth {
  /** The start of each running statement, oldest first. */
  const underWay = new Set<{ readonly beganMs: number }>();
  /** The start of the first statement that failed since the last answer. */
  let failingSinceMs: number | null = null;

  async function watch<T>(work: () => Promise<T>): Promise<T> {
    const beganMs = monotonicMs();
    const statement = { beganMs };
    underWay.add(statement);
    try {
      const result = await work();
      failingSinceMs = null;
      return result;
    } catch (error) {
      const isAway = error instanceof Problem && error.code === "database_away";
      failingSinceMs = isAway ? (failingSinceMs ?? beganMs) : null;
      throw error;
    } finally {
      underWay.delete(statement);
    }
  }

  return {
    database: {
      rows: (query, values) => watch(() => database.rows(query, values)),
      transaction: (work) => watch(() => database.transaction(work)),
    },
    unansweredMs() {
      const [oldest] = underWay;
      const sinceMs = Math.min(
        oldest?.beganMs ?? Number.POSITIVE_INFINITY,
        failingSinceMs ?? Number.POSITIVE_INFINITY,
      );
      return Math.max(0, monotonicMs() - sinceMs);
    },
  };
}

class Undo extends Error {}

const TRY_TO_WRITE = statement(
  "try_to_write",
  `insert into idempotency_keys (team_id, key, sandbox, request_hash, task_id)
   select 0, gen_random_uuid()::text, true, string_agg(decode(md5(n::text || random()), 'hex'), ''), gen_random_uuid()
     from generate_series(1, 600) as n`,
);

/**
 * Writes a full page and rolls it back: on a full disk this fails, where reading does not. For a node that gets no
 * tasks because it reported that it cannot accept any.
 */
export async function tryToWrite(database: Database): Promise<void> {
  const undone = database.transaction(async (sql) => {
    await sql.rows(TRY_TO_WRITE);
    throw new Undo();
  });
  await undone.catch((error: unknown) => {
    if (!(error instanceof Undo)) throw error;
  });
}
