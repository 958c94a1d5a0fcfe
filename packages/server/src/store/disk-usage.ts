import { patient, type Sql } from "./sql.ts";

/** What the database takes up, by its own word. */
export async function readDatabaseBytes(sql: Sql): Promise<number> {
  const [row] = await sql.rows<{ bytes: number }>(
    patient("chore", "select pg_database_size(current_database())::float8 as bytes"),
  );
  return row?.bytes ?? 0;
}

/** What was deleted takes up its place until then. Not in a transaction. */
export async function vacuumTasks(sql: Sql): Promise<void> {
  await sql.rows(patient("chore", "vacuum tasks"));
}
