import { type Sql, statement } from "../sql.ts";

/** An advisory lock number shared by all nodes: of several nodes that want a new key, one creates it. */
const SESSION_KEY_LOCK = 7_305_815;

export interface StoredSessionKey {
  readonly id: string;
  readonly secret: Buffer;
}

const LIST_SESSION_KEYS = statement(
  "list_session_keys",
  "select id, secret from session_keys order by created_at desc, id",
);

/** Newest first: the newest key signs. */
export async function listSessionKeys(sql: Sql): Promise<StoredSessionKey[]> {
  return sql.rows<StoredSessionKey>(LIST_SESSION_KEYS);
}

const LOCK_SESSION_KEYS = statement("lock_session_keys", "select pg_advisory_xact_lock($1)");

/** Must run in a transaction: until it ends no other node creates a key. */
export async function lockSessionKeys(sql: Sql): Promise<void> {
  await sql.rows(LOCK_SESSION_KEYS, [SESSION_KEY_LOCK]);
}

const IS_NEWEST_KEY_OLDER_THAN = statement(
  "is_newest_key_older_than",
  "select 1 from session_keys having max(created_at) < clock_timestamp() - make_interval(days => $1)",
);

/** Whether a new key is due. Valid only under the lock. */
export async function isNewestKeyOlderThan(sql: Sql, days: number): Promise<boolean> {
  const rows = await sql.rows(IS_NEWEST_KEY_OLDER_THAN, [days]);
  return rows.length === 1;
}

const INSERT_SESSION_KEY = statement(
  "insert_session_key",
  "insert into session_keys (id, secret, created_at) values ($1, $2, clock_timestamp())",
);

export async function insertSessionKey(sql: Sql, { id, secret }: StoredSessionKey): Promise<void> {
  // Not the start of the transaction, which may have waited for the lock: the newest key must have the latest time.
  await sql.rows(INSERT_SESSION_KEY, [id, secret]);
}

const REMOVE_REPLACED_SESSION_KEYS = statement(
  "remove_replaced_session_keys",
  `delete from session_keys k
    where exists (select 1 from session_keys n
                   where n.created_at > k.created_at and n.created_at < now() - make_interval(hours => $1))`,
);

/** Deletes keys that were replaced more than this many hours ago. The newest always stays. */
export async function removeReplacedSessionKeys(sql: Sql, hours: number): Promise<void> {
  await sql.rows(REMOVE_REPLACED_SESSION_KEYS, [hours]);
}
