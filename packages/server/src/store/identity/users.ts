import { type Sql, statement } from "../sql.ts";

// The update changes nothing; without it an existing row would not be returned.
const ENSURE_USER = statement(
  "ensure_user",
  `insert into users as u (id, email) values ($1, $2)
   on conflict (email) do update set email = u.email returning id`,
);

/** Finds or creates the user with this address, under `newId` if it is new. Returns the id. */
export async function ensureUser(sql: Sql, newId: string, email: string): Promise<string> {
  const rows = await sql.rows<{ id: string }>(ENSURE_USER, [newId, email]);
  return rows[0]?.id ?? newId;
}

const FIND_EMAIL = statement("find_email", "select email from users where id = $1");

export async function findEmail(sql: Sql, userId: string): Promise<string | null> {
  const rows = await sql.rows<{ email: string }>(FIND_EMAIL, [userId]);
  return rows[0]?.email ?? null;
}

const LOCK_USER = statement("lock_user", "select 1 from users where id = $1 for no key update");

/** Serializes transactions of one person, for counts by person. */
export async function lockUser(sql: Sql, userId: string): Promise<void> {
  await sql.rows(LOCK_USER, [userId]);
}
