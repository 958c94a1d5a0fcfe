import type { KeyHolder } from "../../domain/dedupe-verdict.ts";
import type { NewTask } from "../../domain/task.ts";
import { type Sql, statement } from "../sql.ts";
import { aheadSeconds, withClock } from "./sandbox-clocks.ts";

/*
 * The race: requests with one deduplication key on several nodes must create one task. Each transaction locks the rows of
 * its keys, in key order, then the tasks that it may replace, in id order, and then inserts its idempotency keys. Every
 * other statement that locks several of these takes them in the same order, or skips locked ones: so none deadlock. What
 * a statement reads after a lock it reads in a snapshot of its own, and so sees what the holder before has committed.
 */

/** A locked key, and the last task that was created under it. */
export interface LockedKey {
  readonly teamId: number;
  readonly sandbox: boolean;
  readonly key: string;
  readonly taskId: string | null;
  /** The id of that task's callback. */
  readonly callbackSealed: string | null;
}

export type DedupeKey = Pick<LockedKey, "teamId" | "sandbox" | "key">;

const LOCK_DEDUPE_KEYS = statement(
  "lock_dedupe_keys",
  `insert into dedupe_keys as k (team_id, sandbox, key)
   select a.team_id, a.sandbox, a.key
     from jsonb_to_recordset($1::jsonb) as a(team_id integer, sandbox boolean, key text)
    order by a.team_id, a.sandbox, a.key
   on conflict (team_id, sandbox, key) do update set key = excluded.key
   returning k.team_id as "teamId", k.sandbox, k.key, k.task_id as "taskId", encode(k.callback_sealed, 'hex') as "callbackSealed"`,
);

/** Locks these keys, each given once, until the transaction ends. Waits for other requests with one of them. */
export async function lockDedupeKeys(sql: Sql, keys: readonly DedupeKey[]): Promise<LockedKey[]> {
  const rows = keys.map(({ teamId, sandbox, key }) => ({ team_id: teamId, sandbox, key }));
  return sql.rows<LockedKey>(LOCK_DEDUPE_KEYS, [JSON.stringify(rows)]);
}

/** The task that a key belongs to. */
export interface HeldTask extends KeyHolder {
  readonly teamId: number;
  readonly id: string;
  readonly hasCallback: boolean;
  readonly callbackSealed: string | null;
}

const READ_HELD_TASKS = statement(
  "read_held_tasks",
  `select t.team_id as "teamId", t.id, t.dedupe, t.shape, q.name as queue,
          (extract(epoch from t.created_at) * 1000)::float8 as "createdMs",
          t.status = 'pending' and t.attempt_count = 0 as "isUntouched", t.callback_hash is not null as "hasCallback",
          encode(t.callback_sealed, 'hex') as "callbackSealed"
     from jsonb_to_recordset($1::jsonb) as a(team_id integer, id uuid)
     join tasks t on t.team_id = a.team_id and t.id = a.id
     join queues q on q.team_id = t.team_id and q.id = t.queue_id
    where t.dedupe is not null`,
);

const LOCK_UNTOUCHED = statement(
  "lock_untouched",
  `select t.id from jsonb_to_recordset($1::jsonb) as a(team_id integer, id uuid)
     join tasks t on t.team_id = a.team_id and t.id = a.id
    where t.status = 'pending' and t.attempt_count = 0
    order by t.id
      for update of t`,
);

/**
 * The tasks of these keys. One that may be replaced is locked, so that no worker claims it until the transaction ends;
 * if a worker has claimed it before, it is no longer untouched.
 */
export async function readHeldTasks(
  sql: Sql,
  keys: readonly LockedKey[],
): Promise<ReadonlyMap<string, HeldTask>> {
  const ids = keys.flatMap(({ teamId, taskId }) => (taskId === null ? [] : { team_id: teamId, id: taskId }));
  if (ids.length === 0) return new Map();
  const rows = await sql.rows<HeldTask>(READ_HELD_TASKS, [JSON.stringify(ids)]);
  const open = rows.filter(({ isUntouched, dedupe }) => isUntouched && dedupe.mode !== "first");
  const wanted = JSON.stringify(open.map(({ teamId, id }) => ({ team_id: teamId, id })));
  const locked = open.length === 0 ? [] : await sql.rows<{ id: string }>(LOCK_UNTOUCHED, [wanted]);
  const untouched = new Set(locked.map(({ id }) => id));
  return new Map(
    rows.map((row) => {
      const isUntouched = row.isUntouched && (row.dedupe.mode === "first" || untouched.has(row.id));
      return [row.id, { ...row, isUntouched }];
    }),
  );
}

const READ_DEDUPE_CLOCKS = statement(
  "read_dedupe_clocks",
  `select a.team_id as "teamId", a.sandbox,
          (extract(epoch from now() + make_interval(secs => ${aheadSeconds()})) * 1000)::float8 as "nowMs"
     from jsonb_to_recordset($1::jsonb) as a(team_id integer, sandbox boolean) ${withClock("a")}`,
);

const clockName = ({ teamId, sandbox }: Pick<DedupeKey, "teamId" | "sandbox">) => `${teamId} ${sandbox}`;

/** The time of each key: the database's, or that of the team's sandbox. */
export async function readDedupeClocks(
  sql: Sql,
  keys: readonly DedupeKey[],
): Promise<(key: Pick<DedupeKey, "teamId" | "sandbox">) => number> {
  const distinct = new Map(keys.map((key) => [clockName(key), key]));
  const asked = [...distinct.values()].map(({ teamId, sandbox }) => ({ team_id: teamId, sandbox }));
  const rows = await sql.rows<{ teamId: number; sandbox: boolean; nowMs: number }>(READ_DEDUPE_CLOCKS, [
    JSON.stringify(asked),
  ]);
  const times = new Map(rows.map((row) => [clockName(row), row.nowMs]));
  return (key) => times.get(clockName(key)) ?? 0;
}

/** A key's task after the transaction, and how long at least the key is kept. */
export interface KeptKey extends DedupeKey {
  readonly taskId: string;
  readonly callbackSealed: string | null;
  readonly keptSeconds: number;
}

const KEEP_DEDUPE_KEYS = statement(
  "keep_dedupe_keys",
  `with asked as materialized (
     select a.*, now() + make_interval(secs => a.kept_seconds) as until
       from jsonb_to_recordset($1::jsonb) as a(
              team_id integer, sandbox boolean, key text, task_id uuid, callback_sealed text, kept_seconds integer)
   )
   update dedupe_keys k
      set task_id = a.task_id, callback_sealed = decode(a.callback_sealed, 'hex'), free_at = a.until
     from asked a where k.team_id = a.team_id and k.sandbox = a.sandbox and k.key = a.key`,
);

export async function keepDedupeKeys(sql: Sql, keys: readonly KeptKey[]): Promise<void> {
  if (keys.length === 0) return;
  const rows = keys.map(({ teamId, sandbox, key, taskId, callbackSealed, keptSeconds }) => ({
    team_id: teamId,
    sandbox,
    key,
    task_id: taskId,
    callback_sealed: callbackSealed,
    kept_seconds: keptSeconds,
  }));
  await sql.rows(KEEP_DEDUPE_KEYS, [JSON.stringify(rows)]);
}

const REMOVE_OLD_DEDUPE_KEYS = statement(
  "remove_old_dedupe_keys",
  `with old as materialized (
     select team_id, sandbox, key, task_id, now() + interval '1 hour' as later
       from dedupe_keys where free_at < now() order by free_at limit $1 for update skip locked
   ), held as (
     select o.* from old o join tasks t on t.team_id = o.team_id and t.id = o.task_id
      where t.dedupe ->> 'mode' <> 'first' and t.status = 'pending' and t.attempt_count = 0
   ), postponed as (
     update dedupe_keys k set free_at = h.later from held h
      where k.team_id = h.team_id and k.sandbox = h.sandbox and k.key = h.key
   ), removed as (
     delete from dedupe_keys k using old o
      where k.team_id = o.team_id and k.sandbox = o.sandbox and k.key = o.key
        and not exists (select 1 from held h where h.team_id = o.team_id and h.sandbox = o.sandbox and h.key = o.key)
   )
   select count(*)::integer as looked from old`,
  { patience: "chore" },
);

/** Removes a batch of keys that no task holds any more. Returns how many were looked at. */
export async function removeOldDedupeKeys(sql: Sql, batch: number): Promise<number> {
  const [row] = await sql.rows<{ looked: number }>(REMOVE_OLD_DEDUPE_KEYS, [batch]);
  return row?.looked ?? 0;
}

/** The name of a task's key within a transaction. */
export function keyName({ teamId, sandbox, key }: DedupeKey): string {
  return `${teamId} ${sandbox} ${key}`;
}

export function keyOf({
  teamId,
  sandbox,
  dedupe,
}: Pick<NewTask, "teamId" | "sandbox" | "dedupe">): DedupeKey {
  if (dedupe === null) throw new Error("The task has no deduplication key");
  return { teamId, sandbox, key: dedupe.key };
}
