import pg from "pg";
import { Problem } from "../domain/problem.ts";
import type { Database, Prepared, Sql } from "../store/sql.ts";

/** The store's view of a pool. A database that cannot be reached is a problem, not a bug. */
export function createDatabase(pool: pg.Pool): Database {
  return {
    rows: (query, values) => guarded(() => run(pool, query, values)),
    transaction: (work) => guarded(() => transact(pool, work)),
  };
}

async function transact<T>(pool: pg.Pool, work: (sql: Sql) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  try {
    await client.query("begin");
    const result = await work({ rows: (query, values) => run(client, query, values) });
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback").catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

async function run<Row extends object>(
  client: pg.Pool | pg.PoolClient,
  query: string | Prepared,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const parameters = [...values];
  const result =
    typeof query === "string"
      ? await client.query<Row>(query, parameters)
      : await client.query<Row>({ name: query.name, text: query.text, values: parameters });
  return result.rows;
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isAway(error) ? new Problem("database_away", {}, { cause: error }) : error;
  }
}

/** Classes of SQLSTATE with which a server says that it cannot serve at the moment. */
const AWAY = new Set(["57P01", "57P02", "57P03", "53300", "25006"]);

/**
 * An error that is not the server's own word means that the connection was refused, lost or timed out: the system
 * gives such errors a code, the driver throws them as plain `Error`. A TypeError is ours.
 */
function isAway(error: unknown): boolean {
  if (error instanceof Problem) return false;
  if (error instanceof pg.DatabaseError)
    return AWAY.has(error.code ?? "") || error.code?.startsWith("08") === true;
  if (!(error instanceof Error) || error instanceof TypeError) return false;
  return "code" in error || error.constructor === Error;
}
