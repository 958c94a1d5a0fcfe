import type { Sql } from "../sql.ts";

/** Finds or creates the user with this address, under `newId` if it is new. Returns the id. */
export async function ensureUser(sql: Sql, newId: string, email: string): Promise<string> {
  const rows = await sql.rows<{ id: string }>(
    // The update changes nothing; without it an existing row would not be returned.
    `insert into users as u (id, email) values ($1, $2)
     on conflict (email) do update set email = u.email returning id`,
    [newId, email],
  );
  return rows[0]?.id ?? newId;
}

export async function findEmail(sql: Sql, userId: string): Promise<string | null> {
  const rows = await sql.rows<{ email: string }>("select email from users where id = $1", [userId]);
  return rows[0]?.email ?? null;
}

/** Serializes transactions of one person, for counts by person. */
export async function lockUser(sql: Sql, userId: string): Promise<void> {
  await sql.rows("select 1 from users where id = $1 for no key update", [userId]);
}
