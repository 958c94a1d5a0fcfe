import { Problem } from "../domain/problem.ts";
import type { Database } from "./sql.ts";

/** Whether a database answers, as seen from the statements that go there anyway. */
export interface DatabaseHealth {
  /** The same database, watched. */
  readonly database: Database;
  /** For how long there has been no answer although one was due; 0 when the last statement was answered. */
  unansweredMs(): number;
}

export function watchDatabaseHealth(database: Database, monotonicMs: () => number): DatabaseHealth {
  /** When each statement under way began, the oldest first. */
  const underWay = new Set<{ readonly beganMs: number }>();
  /** When the first of those began that were refused since the last answer. */
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

/**
 * Writes what takes a page of its own, and undoes it: on a disk that is full this fails, where reading does not. For a
 * node that gets no tasks any more because it said that it cannot take any.
 */
export async function tryToWrite(database: Database): Promise<void> {
  const undone = database.transaction(async (sql) => {
    await sql.rows(
      `insert into idempotency_keys (team_id, key, sandbox, request_hash, task_id)
       select 0, gen_random_uuid()::text, true, string_agg(decode(md5(n::text || random()), 'hex'), ''), gen_random_uuid()
         from generate_series(1, 600) as n`,
    );
    throw new Undo();
  });
  await undone.catch((error: unknown) => {
    if (!(error instanceof Undo)) throw error;
  });
}
