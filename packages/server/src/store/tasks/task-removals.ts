import type { Reach } from "../../domain/reach.ts";
import { ENDED_STATUSES, type TaskStatus } from "../../domain/task.ts";
import type { ChangedTask } from "../../domain/task-changes.ts";
import { inState, listOrder } from "../list-index.ts";
import { type Sql, statement } from "../sql.ts";
import { lettingGo, unlisting } from "./endings.ts";
import { BLOCKS_NO_LINE } from "./ordered-lines.ts";
import { STEPS_OF_A_QUEUE } from "./queue-stats.ts";
import { FOLD_TALLIES, NO_WORKER, one, tally } from "./tallies.ts";

const tallied = tally({
  from: "removed",
  worker: NO_WORKER,
  writer: "other",
  deltas: {
    pending: `-${one("status = 'pending'")}`,
    ...Object.fromEntries(ENDED_STATUSES.map((status) => [status, `-${one(`status = '${status}'`)}`])),
  },
});

const REMOVE_PENDING_TASK = statement(
  "remove_pending_task",
  `with removed as (
     delete from tasks where team_id = $1 and id = $2 and status = 'pending' and ($3 = 'live' or sandbox)
     returning team_id, queue_id, sandbox, flow, id, status, tags, schedule_id, dedupe, idempotency_key
   ), tallied as (${tallied}), ${lettingGo("removed")}
   select queue_id::float8 as "queueId", flow, sandbox from removed`,
  { prepared: true },
);

/** The task, which was pending and is gone: from then on no worker can claim it. Null if it is not pending. */
export async function removePendingTask(sql: Sql, reach: Reach, id: string): Promise<ChangedTask | null> {
  const [removed] = await sql.rows<Pick<ChangedTask, "queueId" | "flow" | "sandbox">>(REMOVE_PENDING_TASK, [
    reach.teamId,
    id,
    reach.environment,
  ]);
  return removed === undefined ? null : { ...removed, teamId: reach.teamId, id };
}

const TASK_STATUS = statement(
  "task_status",
  "select status from tasks where team_id = $1 and id = $2 and ($3 = 'live' or sandbox)",
);

export async function taskStatus(sql: Sql, reach: Reach, id: string): Promise<TaskStatus | null> {
  const rows = await sql.rows<{ status: TaskStatus }>(TASK_STATUS, [reach.teamId, id, reach.environment]);
  return rows[0]?.status ?? null;
}

const REMOVE_PENDING_OF_DELETED_QUEUES = statement(
  "remove_pending_of_deleted_queues",
  `with doomed as (
   select t.team_id, t.id
     from queues q join tasks t on t.team_id = q.team_id and t.queue_id = q.id
                        and t.sandbox in (false, true) and t.list_key = 'pending'
    where q.deleted_at is not null and ($2::integer is null or (q.team_id = $2 and q.id = $3))
    limit $1
 ), removed as (
   delete from tasks t using doomed d
    where t.team_id = d.team_id and t.id = d.id and t.status = 'pending'
   returning t.team_id, t.queue_id, t.sandbox, t.id, t.status, t.tags, t.schedule_id, t.dedupe, t.idempotency_key
 ), tallied as (${tallied}), ${lettingGo("removed")}
 select count(*)::integer as removed, (count(*) filter (where not sandbox))::integer as live from removed`,
  { patience: "chore" },
);

/** Removes a batch of the pending tasks of deleted queues, or of one. Returns how many, and how many of them were not of
 * the sandbox; none left when none. */
export async function removePendingOfDeletedQueues(
  sql: Sql,
  batch: {
    readonly size: number;
    readonly only: { readonly teamId: number; readonly queueId: number } | null;
  },
): Promise<{ readonly removed: number; readonly live: number }> {
  const [counted] = await sql.rows<{ removed: number; live: number }>(REMOVE_PENDING_OF_DELETED_QUEUES, [
    batch.size,
    batch.only?.teamId ?? null,
    batch.only?.queueId ?? null,
  ]);
  return counted ?? { removed: 0, live: 0 };
}

const REMOVE_EXPIRED_TASKS = statement(
  "remove_expired_tasks",
  `with expired as (
   select x.team_id, x.id
     from queues q
    cross join (values ('completed'), ('failed'), ('cancelled')) as s(status)
    cross join (values (false), (true)) as e(sandbox)
    cross join lateral (
      -- Ids begin with their time of creation, and no task ends before it was created: the range leaves the
      -- younger ones unread.
      select t.team_id, t.id from tasks t
       where t.team_id = q.team_id and t.queue_id = q.id and t.sandbox = e.sandbox and ${inState("s.status", "e.sandbox")}
         and t.id < (lpad(to_hex((extract(epoch from now() - make_interval(secs => $1::float8 * 86400)) * 1000)::bigint), 12, '0')
                     || '00000000000000000000')::uuid
         and t.completed_at < now() - make_interval(secs => $1::float8 * 86400)
         and ${BLOCKS_NO_LINE}
       order by ${listOrder("asc")} limit $2 for update of t skip locked) x
    limit $2
 ), removed as (
   delete from tasks t using expired e where t.team_id = e.team_id and t.id = e.id
   returning t.team_id, t.queue_id, t.sandbox, t.id, t.status, t.tags, t.schedule_id, t.dedupe
 ), tallied as (${tallied}), ${unlisting("removed")}, forgotten as (
   delete from notifications n using removed r where n.team_id = r.team_id and n.task_id = r.id
 )
 select count(*)::integer as removed from removed`,
  { patience: "chore" },
);

/**
 * Removes a batch of tasks that ended longer ago than the retention. Returns how many. A retry that commits first keeps its task,
 * and one that comes second does not find it.
 */
export async function removeExpiredTasks(sql: Sql, retentionDays: number, batch: number): Promise<number> {
  const rows = await sql.rows<{ removed: number }>(REMOVE_EXPIRED_TASKS, [retentionDays, batch]);
  return rows[0]?.removed ?? 0;
}

const REMOVE_EMPTY_DELETED_QUEUES = statement(
  "remove_empty_deleted_queues",
  `with empty as materialized (
   select q.team_id, q.id from queues q
    where q.deleted_at < now() - interval '1 hour'
      and not exists (select 1 from tasks t where t.team_id = q.team_id and t.queue_id = q.id)
    limit $1 for update skip locked
 ), steps as materialized (${STEPS_OF_A_QUEUE}
 ), old as (
   -- A probe for each step, because the key of a queue's rows begins with the steps: those of the team's other queues stay unread.
   select s.* from empty e cross join steps p cross join lateral (
     select team_id, seconds, at, queue_id, sandbox, node from queue_stats
      where team_id = e.team_id and seconds = p.seconds and at = p.at and queue_id = e.id
     offset 0) s
    limit $2
 ), forgotten as (
   delete from queue_stats s using old
    where (s.team_id, s.seconds, s.at, s.queue_id, s.sandbox, s.node)
        = (old.team_id, old.seconds, old.at, old.queue_id, old.sandbox, old.node)
   returning 1
 ), gone as (
   delete from queues q using empty e
    where q.team_id = e.team_id and q.id = e.id and (select count(*) from old) < $2
   returning q.team_id, q.id
 ), uncounted as (
   delete from queue_tallies t using gone where t.team_id = gone.team_id and t.queue_id = gone.id
 )
 select (select count(*)::integer from gone) as queues, (select count(*)::integer from forgotten) as stats`,
  { patience: "chore" },
);

/**
 * Removes a batch of the rows of deleted queues that no task refers to any more, when it has removed their statistics. Resolves with
 * whether there may be more.
 */
export async function removeEmptyDeletedQueues(
  sql: Sql,
  most: { readonly queues: number; readonly stats: number },
): Promise<boolean> {
  const [row] = await sql.rows<{ queues: number; stats: number }>(REMOVE_EMPTY_DELETED_QUEUES, [
    most.queues,
    most.stats,
  ]);
  return row !== undefined && (row.queues === most.queues || row.stats === most.stats);
}

export async function foldTallies(sql: Sql): Promise<void> {
  await sql.rows(FOLD_TALLIES);
}
