import { type Sql, statement } from "../sql.ts";

const REGISTER_WORKER = statement(
  "register_worker",
  `insert into workers (name, expires_at) values ($1, clock_timestamp() + make_interval(secs => $2 / 1000.0))
   returning id`,
);

/** A worker's row proves its right to act; the database's clock decides when it expires. */
export async function registerWorker(sql: Sql, name: string, ttlMs: number): Promise<number> {
  const rows = await sql.rows<{ id: string }>(REGISTER_WORKER, [name, ttlMs]);
  return Number(rows[0]?.id);
}

const RENEW_WORKER = statement(
  "renew_worker",
  `update workers set expires_at = clock_timestamp() + make_interval(secs => $2 / 1000.0) where id = $1
   returning (select count(*)::integer from workers where id <> $1) as peers`,
);

/**
 * Extends the lease and counts the other workers. Null if the row was deleted: the worker was considered dead. The old
 * expiry is not checked: while the row exists no task was taken away, whatever the clock did.
 */
export async function renewWorker(sql: Sql, id: number, ttlMs: number): Promise<{ peers: number } | null> {
  const rows = await sql.rows<{ peers: number }>(RENEW_WORKER, [id, ttlMs]);
  return rows[0] ?? null;
}

const REMOVE_EXPIRED_WORKERS = statement(
  "remove_expired_workers",
  "delete from workers where expires_at < clock_timestamp() returning id",
);

/** Removes workers with an expired lease, and their slots. */
export async function removeExpiredWorkers(sql: Sql): Promise<number[]> {
  const rows = await sql.rows<{ id: string }>(REMOVE_EXPIRED_WORKERS);
  return rows.map((row) => Number(row.id));
}

const REMOVE_WORKER = statement("remove_worker", "delete from workers where id = $1");

export async function removeWorker(sql: Sql, id: number): Promise<void> {
  await sql.rows(REMOVE_WORKER, [id]);
}

const REMOVE_ALL_WORKERS = statement("remove_all_workers", "delete from workers");

/** For a database that only this process can reach: every registered worker is a dead predecessor. */
export async function removeAllWorkers(sql: Sql): Promise<void> {
  await sql.rows(REMOVE_ALL_WORKERS);
}

const DATABASE_CLOCK_MS = statement(
  "database_clock_ms",
  "select extract(epoch from clock_timestamp())::float8 * 1000 as ms",
);

export async function databaseClockMs(sql: Sql): Promise<number> {
  const rows = await sql.rows<{ ms: number }>(DATABASE_CLOCK_MS);
  return rows[0]?.ms ?? 0;
}
