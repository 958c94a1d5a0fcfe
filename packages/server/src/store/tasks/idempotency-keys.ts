import { type Sql, statement } from "../sql.ts";

export interface TakenKey {
  readonly taskId: string;
  readonly requestHash: string;
  /** The id of the task's callback, for a repeated request. */
  readonly callbackSealed: Buffer | null;
}

const FIND_TAKEN_KEY = statement(
  "find_taken_key",
  `select task_id as "taskId", encode(request_hash, 'hex') as "requestHash", callback_sealed as "callbackSealed"
     from idempotency_keys
    where team_id = $1 and key = $2 and sandbox = $3 and created_at > now() - interval '24 hours'`,
);

export async function findTakenKey(
  sql: Sql,
  teamId: number,
  key: string,
  sandbox: boolean,
): Promise<TakenKey | null> {
  const rows = await sql.rows<TakenKey>(FIND_TAKEN_KEY, [teamId, key, sandbox]);
  return rows[0] ?? null;
}

const REMOVE_OLD_KEYS = statement(
  "remove_old_keys",
  `delete from idempotency_keys k using (
   select team_id, key, sandbox from idempotency_keys where created_at < now() - interval '24 hours'
    limit $1 for update skip locked) old
  where k.team_id = old.team_id and k.key = old.key and k.sandbox = old.sandbox returning 1`,
  { patience: "chore" },
);

/** Keys are good for a day. One that a request takes again at this moment stays. */
export async function removeOldKeys(sql: Sql, batch: number): Promise<number> {
  const rows = await sql.rows(REMOVE_OLD_KEYS, [batch]);
  return rows.length;
}
