import { type Sql, statement } from "./sql.ts";

const READ_DATABASE_BYTES = statement(
  "read_database_bytes",
  "select pg_database_size(current_database())::float8 as bytes",
  { patience: "chore" },
);

/** The size of the database as PostgreSQL reports it. */
export async function readDatabaseBytes(sql: Sql): Promise<number> {
  const [row] = await sql.rows<{ bytes: number }>(READ_DATABASE_BYTES);
  return row?.bytes ?? 0;
}

const VACUUM_TASKS = statement("vacuum_tasks", "vacuum tasks", { patience: "chore" });

/** Deleted rows occupy space until a vacuum. Must not run in a transaction. */
export async function vacuumTasks(sql: Sql): Promise<void> {
  await sql.rows(VACUUM_TASKS);
}
