import { until } from "./patience.ts";
import { createGate, type TextDatabase, type TextSql } from "./test-sql.ts";

/** In the place of PostgreSQL's own: it waits until nobody else holds the lock. */
const SLOW_CLOCK = `
  create schema if not exists slow;
  create or replace function slow.now() returns timestamptz language plpgsql as
    'begin perform pg_advisory_xact_lock_shared(1); return pg_catalog.now(); end'`;

const WAITS = `
  select from pg_locks l join pg_database d on d.oid = l.database
   where d.datname = current_database() and l.locktype = 'advisory' and not l.granted`;

/**
 * Runs a statement that sees the rows as they are before `meanwhile`, and locks them after it: its first `now()` waits. So it
 * must ask for `now()` before it locks.
 */
export async function lockLate<T>(
  database: TextDatabase,
  statement: (sql: TextSql) => Promise<T>,
  meanwhile: () => Promise<unknown>,
): Promise<T> {
  await database.rows(SLOW_CLOCK);
  const gate = createGate();
  const holder = database.transaction(async (sql) => {
    await sql.rows("select pg_advisory_xact_lock(1)");
    await gate.wait();
  });
  await gate.reached;
  const late = database.transaction(async (sql) => {
    await sql.rows("set local search_path = slow, pg_catalog, public");
    return statement(sql);
  });
  await until(async () => (await database.rows(WAITS)).length > 0);
  await meanwhile();
  gate.open();
  await holder;
  return late;
}
