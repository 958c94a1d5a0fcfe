import { prepare, type Sql } from "../sql.ts";

/**
 * A question for the earliest of the instants in a column, answered in milliseconds from now by the database's clock;
 * null if there is none. `from` must match a partial index on the column, so that it is one look into the index: its first
 * entry, where a minimum could also be taken of all of them.
 */
export function untilNext(name: string, column: string, from: string): (sql: Sql) => Promise<number | null> {
  const statement = prepare(
    name,
    `select extract(epoch from (select ${column} from ${from} order by ${column} limit 1) - clock_timestamp())::float8
       * 1000 as ms`,
  );
  return async (sql) => (await sql.rows<{ ms: number | null }>(statement))[0]?.ms ?? null;
}
