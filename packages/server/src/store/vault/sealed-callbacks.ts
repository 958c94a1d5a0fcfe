import { type Sql, statement } from "../sql.ts";

export interface SealedCallback {
  readonly teamId: number;
  readonly taskId: string;
  /** The position in a scan of all teams' callbacks. */
  readonly hash: Buffer;
  /** Null if the id need not be read again. */
  readonly sealed: Buffer | null;
}

const PAGE_OF_CALLBACKS = statement(
  "page_of_callbacks",
  `select team_id as "teamId", id as "taskId", callback_hash as hash, callback_sealed as sealed from tasks
    where callback_hash is not null and ($1::bytea is null or callback_hash > $1::bytea)
    order by callback_hash limit $2`,
);

/** The next callbacks after a position, by index: the number scanned is limited, even if few are encrypted. */
export async function pageOfCallbacks(
  sql: Sql,
  after: Buffer | null,
  limit: number,
): Promise<SealedCallback[]> {
  return sql.rows<SealedCallback>(PAGE_OF_CALLBACKS, [after, limit]);
}

const RESEAL_CALLBACK = statement(
  "reseal_callback",
  `update tasks set callback_sealed = $4 where team_id = $1 and id = $2 and callback_sealed = $3 returning id`,
);

/** Re-encrypts a task's callback id, unless the task has ended meanwhile. Returns whether it changed. */
export async function resealCallback(sql: Sql, from: SealedCallback, sealed: Buffer): Promise<boolean> {
  const rows = await sql.rows(RESEAL_CALLBACK, [from.teamId, from.taskId, from.sealed, sealed]);
  return rows.length === 1;
}
