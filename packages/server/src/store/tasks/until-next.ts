import { prepare, type Sql } from "../sql.ts";

/**
 * A question for the earliest of the instants in a column, answered in milliseconds from now by the database's clock;
 * null if there is none. `from` must match a partial index on the column, so that it is one look into the index.
 */
export function untilNext(name: string, column: string, from: string): (sql: Sql) => Promise<number | null> {
  const statement = prepare(
    name,
    `select extract(epoch from min(${column}) - clock_timestamp())::float8 * 1000 as ms from ${from}`,
  );
  return async (sql) => (await sql.rows<{ ms: number | null }>(statement))[0]?.ms ?? null;
}
