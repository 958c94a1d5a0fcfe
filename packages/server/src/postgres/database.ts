import pg from "pg";
import { Problem } from "../domain/problem.ts";
import { type Database, type Prepared, type Sql, Unstorable } from "../store/sql.ts";

/** The store's view of a pool. A database that cannot be reached is a problem, not a bug. */
export function createDatabase(pool: pg.Pool): Database {
  return {
    rows: (query, values) => guarded(() => untilUndisturbed(() => run(pool, query, values))),
    transaction: (work) => guarded(() => untilUndisturbed(() => transact(pool, work))),
  };
}

const MOST_TRIES = 5;

/**
 * Two transactions that lock several rows in different orders wait for each other, and PostgreSQL undoes one of them,
 * as if it had not begun. Class 40 of SQLSTATE is deadlocks and the like.
 */
async function untilUndisturbed<T>(work: () => Promise<T>, tries = 1): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isDisturbed = error instanceof pg.DatabaseError && error.code?.startsWith("40") === true;
    if (!isDisturbed || tries === MOST_TRIES) throw error;
    return untilUndisturbed(work, tries + 1);
  }
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
    if (isAway(error)) throw new Problem("database_away", {}, { cause: error });
    throw isUnstorable(error) ? new Unstorable("A value cannot be stored", { cause: error }) : error;
  }
}

/** SQLSTATE classes 22 (data exception) and 54 (limit exceeded): the value is at fault, not the moment. */
function isUnstorable(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(22|54)/.test(error.code ?? "");
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
