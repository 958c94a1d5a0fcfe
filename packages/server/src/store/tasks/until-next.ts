import { type Sql, statement } from "../sql.ts";

/**
 * A statement for the earliest time in a column, in milliseconds from now by the database's clock; null if there is
 * none. `from` must match a partial index on the column, so that it is one index probe: a minimum could also be
 * computed from all rows.
 */
export function untilNext(name: string, column: string, from: string): (sql: Sql) => Promise<number | null> {
  const findNext = statement(
    name,
    `select extract(epoch from (select ${column} from ${from} order by ${column} limit 1) - clock_timestamp())::float8
       * 1000 as ms`,
    { prepared: true },
  );
  return async (sql) => (await sql.rows<{ ms: number | null }>(findNext))[0]?.ms ?? null;
}
