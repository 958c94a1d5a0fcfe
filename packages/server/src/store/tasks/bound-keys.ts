import type { NewTask } from "../../domain/task.ts";
import { type Sql, statement } from "../sql.ts";

/*
 * Idempotency keys of requests with a deduplication key. Such a request may be answered with the task of another, so its
 * key is bound to a task in a step of its own: `bound_keys` lists them by task, and a deleted task frees them.
 */

const TAKE_KEYS = statement(
  "take_idempotency_keys",
  `with asked as materialized (
     select a.*, now() as at from jsonb_to_recordset($1::jsonb) as a(
            team_id integer, key text, sandbox boolean, request_hash text, task_id uuid, callback_sealed text)
   ), times as materialized (select now() - interval '24 hours' as free_before)
   insert into idempotency_keys as k (team_id, key, sandbox, request_hash, task_id, callback_sealed, created_at)
   select a.team_id, a.key, a.sandbox, decode(a.request_hash, 'hex'), a.task_id, decode(a.callback_sealed, 'hex'), a.at
     from asked a
    order by a.team_id, a.key, a.sandbox
   on conflict (team_id, key, sandbox) do update
      set request_hash = excluded.request_hash, task_id = excluded.task_id,
          callback_sealed = excluded.callback_sealed, created_at = excluded.created_at
    where k.created_at < (select free_before from times)
   returning k.task_id as "taskId"`,
);

/** Takes the keys of these tasks, each given once. Returns the tasks whose key was free. */
export async function takeKeys(sql: Sql, tasks: readonly NewTask[]): Promise<ReadonlySet<string>> {
  const rows = tasks.flatMap(({ teamId, id, sandbox, idempotency }) =>
    idempotency === null
      ? []
      : {
          team_id: teamId,
          key: idempotency.key,
          sandbox,
          request_hash: idempotency.requestHash,
          task_id: id,
          callback_sealed: idempotency.callbackSealed,
        },
  );
  if (rows.length === 0) return new Set();
  const taken = await sql.rows<{ taskId: string }>(TAKE_KEYS, [JSON.stringify(rows)]);
  return new Set(taken.map(({ taskId }) => taskId));
}

/** A taken key and the task that its request was answered with; null if the request was refused. */
export interface Binding {
  readonly task: NewTask;
  readonly answeredWith: string | null;
  /** The id of that task's callback, for a repeated request. */
  readonly callbackSealed: string | null;
}

const BIND_KEYS = statement(
  "bind_idempotency_keys",
  `with asked as materialized (
     select * from jsonb_to_recordset($1::jsonb) as a(
       team_id integer, key text, sandbox boolean, task_id uuid, callback_sealed text)
   ), freed as (
     delete from idempotency_keys k using asked a
      where a.task_id is null and k.team_id = a.team_id and k.key = a.key and k.sandbox = a.sandbox
   ), listed as (
     insert into bound_keys (team_id, task_id, sandbox, key)
     select team_id, task_id, sandbox, key from asked where task_id is not null
     on conflict do nothing
   )
   update idempotency_keys k set task_id = a.task_id, callback_sealed = decode(a.callback_sealed, 'hex')
     from asked a
    where a.task_id is not null and k.team_id = a.team_id and k.key = a.key and k.sandbox = a.sandbox`,
);

/** Must run in the transaction that took the keys. */
export async function bindKeys(sql: Sql, bindings: readonly Binding[]): Promise<void> {
  const rows = bindings.flatMap(({ task: { teamId, sandbox, idempotency }, answeredWith, callbackSealed }) =>
    idempotency === null
      ? []
      : {
          team_id: teamId,
          key: idempotency.key,
          sandbox,
          task_id: answeredWith,
          callback_sealed: callbackSealed,
        },
  );
  if (rows.length > 0) await sql.rows(BIND_KEYS, [JSON.stringify(rows)]);
}
