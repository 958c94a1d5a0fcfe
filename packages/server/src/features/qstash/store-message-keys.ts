import { type Sql, statement } from "../../store/sql.ts";

/** A deduplication key of /v2, and the message that it belongs to. */
export interface MessageKey {
  readonly teamId: number;
  readonly sandbox: boolean;
  readonly key: string;
  readonly taskId: string;
}

const KEYS = "jsonb_to_recordset($1::jsonb) as a(team_id integer, sandbox boolean, key text, task_id uuid)";

/*
 * The race: requests with one key on several nodes must create one message. The transaction that inserts the row of a key first has it;
 * others wait for that commit. A transaction takes its keys in key order, so two of them do not deadlock.
 */
const TAKE_MESSAGE_KEYS = statement(
  "take_message_keys",
  `with clock as (
     select now() as at, now() - interval '10 minutes' as free_before
   ), asked as (
     select a.team_id, a.sandbox, decode(a.key, 'hex') as key, a.task_id, c.at from ${KEYS} cross join clock c
   )
   insert into message_keys as k (team_id, sandbox, key, task_id, created_at)
   select team_id, sandbox, key, task_id, at from asked order by team_id, sandbox, key
   on conflict (team_id, sandbox, key) do update
      set task_id = excluded.task_id, created_at = excluded.created_at
    where k.created_at < (select free_before from clock)`,
);

/** In a statement of its own: its snapshot has what the one before has waited for. */
const FIND_MESSAGE_KEYS = statement(
  "find_message_keys",
  `select k.team_id as "teamId", k.sandbox, encode(k.key, 'hex') as key, k.task_id as "taskId"
     from ${KEYS}
     join message_keys k on k.team_id = a.team_id and k.sandbox = a.sandbox and k.key = decode(a.key, 'hex')`,
);

/** Takes the keys that are free, each given once. Resolves with whose each of them is now. */
export async function takeMessageKeys(sql: Sql, keys: readonly MessageKey[]): Promise<MessageKey[]> {
  const asked = [rowsOf(keys)];
  await sql.rows(TAKE_MESSAGE_KEYS, asked);
  return sql.rows<MessageKey>(FIND_MESSAGE_KEYS, asked);
}

const FREE_MESSAGE_KEYS = statement(
  "free_message_keys",
  `delete from message_keys k using ${KEYS}
    where k.team_id = a.team_id and k.sandbox = a.sandbox and k.key = decode(a.key, 'hex') and k.task_id = a.task_id`,
);

/** Of messages that were refused after their keys were taken. */
export async function freeMessageKeys(sql: Sql, keys: readonly MessageKey[]): Promise<void> {
  if (keys.length > 0) await sql.rows(FREE_MESSAGE_KEYS, [rowsOf(keys)]);
}

function rowsOf(keys: readonly MessageKey[]): string {
  return JSON.stringify(
    keys.map(({ teamId, sandbox, key, taskId }) => ({ team_id: teamId, sandbox, key, task_id: taskId })),
  );
}
