import { patient, type Sql } from "./sql.ts";

/** The size of the database as PostgreSQL reports it. */
export async function readDatabaseBytes(sql: Sql): Promise<number> {
  const [row] = await sql.rows<{ bytes: number }>(
    patient("chore", "select pg_database_size(current_database())::float8 as bytes"),
  );
  return row?.bytes ?? 0;
}

/** Deleted rows occupy space until a vacuum. Must not run in a transaction. */
export async function vacuumTasks(sql: Sql): Promise<void> {
  await sql.rows(patient("chore", "vacuum tasks"));
}
