import type { BreakerRow } from "../../domain/breaker.ts";
import { type Database, type Sql, statement } from "../sql.ts";
import type { BreakerKey } from "./breakers.ts";
import { hintText, sendHints } from "./hints.ts";
import { joiningLines } from "./ordered-lines.ts";

/*
 * The tasks that wait for a host, and the passes with which they may begin: one after the breaker's time is over (the
 * probe), then more and more. A pass counts as long as its task is pending or in the attempt that it is for. Whatever
 * becomes of the task or of its worker, the row of the task shows it, and the next one gets the pass.
 */

export interface HeldHost extends BreakerKey {
  readonly queue: string;
  /** Milliseconds until a task may have a pass. */
  readonly waitMs: number;
}

/** By the two partial indexes of breaker_tasks. */
const hasTasks = (passed: "is null" | "is not null") => `exists (
             select 1 from breaker_tasks k
              where k.team_id = b.team_id and k.queue_id = b.queue_id and k.host = b.host and k.passed_at ${passed})`;

const HELD_HOSTS = statement(
  "held_hosts",
  `select b.team_id as "teamId", b.queue_id::float8 as "queueId", b.host, q.name as queue,
          case when b.phase = 'open' and not q.ordered then greatest(0, b.left_ms) else 0 end as "waitMs"
     from (select *, extract(epoch from until - now())::float8 * 1000 as left_ms, until < now() - interval '1 day' as is_old
             from breakers) b
     join queues q on q.team_id = b.team_id and q.id = b.queue_id
    where q.deleted_at is null and not q.paused
      and (b.phase <> 'open' or b.is_old or q.ordered or ${hasTasks("is null")} or ${hasTasks("is not null")})
    order by b.team_id, b.queue_id, b.host`,
  { patience: "chore" },
);

/** The hosts for which there is something to do: a task waits, or the breaker is to be removed. Not those of paused queues. */
export async function heldHosts(sql: Sql): Promise<HeldHost[]> {
  return sql.rows<HeldHost>(HELD_HOSTS);
}

const LOCK_DUE_BREAKER = statement(
  "lock_due_breaker",
  `select ordered from queues where team_id = $1 and id = $2 and deleted_at is null for no key update`,
);

const DUE_BREAKER = statement(
  "due_breaker",
  `select phase, cooldown, allowed, until, until < now() - interval '1 day' as "isOld"
     from breakers where team_id = $1 and queue_id = $2 and host = $3 and (phase <> 'open' or until <= now() or $4::boolean)`,
);

/** The passes of a host, each with its task as it is now. */
const PASSES = `passes as materialized (
     select p.task_id, p.fence, p.passed_at, t.flow, t.status,
            coalesce(case t.status when 'pending' then t.fence = p.fence when 'active' then t.fence = p.fence + 1 end, false) as is_live
       from breaker_tasks p left join tasks t on t.team_id = p.team_id and t.id = p.task_id
      where p.team_id = $1 and p.queue_id = $2 and p.host = $3 and p.passed_at is not null
   )`;

/** A task that its flow holds back keeps the pass for this long; then another one is tried. */
const REVOKE_PASSES = statement(
  "revoke_passes",
  `with ${PASSES}, late as materialized (
     select t.ctid as place, t.id from tasks t
      where t.team_id = $1 and t.flow_due_at is not null and t.id = any (array(
              select task_id from passes where is_live and status = 'pending' and passed_at < now() - interval '10 seconds'))
        for update skip locked
   ), taken_out as (
     update tasks t set flow_due_at = null where t.ctid = any (array(select place from late))
   )
   update breaker_tasks p set passed_at = null, due_at = now() from late where p.team_id = $1 and p.task_id = late.id`,
);

/**
 * Gives passes to the first tasks that wait, up to $4 since $6 in all; if $5, they need none any more. A row whose task no longer
 * waits is removed, under the lock of the task, so that no task is left waiting without a row.
 */
const PASS_TASKS = statement(
  "pass_tasks",
  `with ${PASSES}, ended as (
     delete from breaker_tasks p using passes s
      where p.team_id = $1 and p.task_id = s.task_id and p.fence = s.fence and p.passed_at is not null and (not s.is_live or $5::boolean)
   ), first as materialized (
     select task_id from breaker_tasks
      where team_id = $1 and queue_id = $2 and host = $3 and passed_at is null
      order by priority desc, due_at, task_id
      limit case when $5::boolean then $4::bigint else greatest(0, $4::bigint - (select count(*) from passes where is_live and passed_at >= $6)) end
   ), locked as materialized (
     select t.ctid as place, t.id, t.fence, t.flow,
            t.status = 'pending' and t.due_at is null and t.flow_due_at is null and not t.sandbox as waits
       from first f join tasks t on t.team_id = $1 and t.id = f.task_id
        for update of t skip locked
   ), released as (
     update tasks t
        set due_at = case when t.flow is null then t.run_at end, flow_due_at = case when t.flow is not null then t.run_at end
      where t.ctid = any (array(select place from locked where waits))
     returning t.team_id, t.queue_id, t.id, t.flow, t.sandbox, t.created_at, t.run_at
   ), ${joiningLines("released")}, marked as (
     update breaker_tasks p set passed_at = clock.now, fence = l.fence
       from locked l, (select now() as now) clock
      where l.waits and not $5::boolean and p.team_id = $1 and p.task_id = l.id
   ), dropped as (
     delete from breaker_tasks p
      where p.team_id = $1 and p.task_id = any (array(
              select id from locked where $5::boolean or not waits
               union all
              select task_id from first f
               where not exists (select 1 from tasks t where t.team_id = $1 and t.id = f.task_id)))
   )
   select (select count(*) from first)::integer as tried, (select count(*) from passes where is_live)::integer as live,
          (select count(*) from locked where waits)::integer as released,
          (select array_agg(distinct flow) from locked where waits and flow is not null) as flows,
          (select count(*) from locked where waits and flow is null)::integer as plain`,
  { patience: "chore" },
);

interface PassRow {
  readonly tried: number;
  readonly live: number;
  readonly released: number;
  readonly flows: readonly string[] | null;
  readonly plain: number;
}

/** Tasks that are released at once when all may go. */
export const PASSED_TOGETHER = 1_000;

/**
 * The race: a claim that sees the breaker takes a task out after the last look for tasks that wait. From here on such a claim waits, and
 * then finds no breaker. Skipped while a claim under way keeps the breaker: it may wait for a row of this transaction.
 */
const LOCK_IDLE_BREAKER = statement(
  "lock_idle_breaker",
  "select 1 from breakers where team_id = $1 and queue_id = $2 and host = $3 for update skip locked",
);

const FORGET_BREAKER = statement(
  "forget_breaker",
  `with gone as (
     delete from breakers where team_id = $1 and queue_id = $2 and host = $3
        and not exists (select 1 from breaker_tasks k where k.team_id = $1 and k.queue_id = $2 and k.host = $3)
     returning team_id, queue_id
   ), marked as (
     update queues q set holds_hosts = not q.holds_hosts, epoch = q.epoch + 1
       from gone where q.team_id = gone.team_id and q.id = gone.queue_id
        and q.holds_hosts <> exists (
              select 1 from breakers b
               where b.team_id = $1 and b.queue_id = $2 and b.host <> $3 and b.phase <> 'draining')
   )
   select 1 from gone`,
);

/** Removes a breaker for which no task waited. `needed`: one waits by now. `busy`: the next round tries again. */
async function forgetBreaker(sql: Sql, key: readonly unknown[]): Promise<"gone" | "needed" | "busy"> {
  const locked = await sql.rows(LOCK_IDLE_BREAKER, key);
  if (locked.length === 0) return "busy";
  return (await sql.rows(FORGET_BREAKER, key)).length > 0 ? "gone" : "needed";
}

/** What may begin now. */
export interface Passed {
  readonly plain: number;
  readonly flows: readonly string[];
  /** There may be more to do at once. */
  readonly isPartial: boolean;
}

const NOTHING: Passed = { plain: 0, flows: [], isPartial: false };

/** Lets as many of the tasks that wait for a host begin as may. */
export async function passTasks(database: Database, held: HeldHost): Promise<Passed> {
  const { teamId, queueId, host, queue } = held;
  const key = [teamId, queueId, host];
  return database.transaction(async (sql) => {
    const [lock] = await sql.rows<{ ordered: boolean }>(LOCK_DUE_BREAKER, [teamId, queueId]);
    if (lock === undefined) return NOTHING;
    const [breaker] = await sql.rows<BreakerRow & { readonly until: Date; readonly isOld: boolean }>(
      DUE_BREAKER,
      [...key, lock.ordered],
    );
    if (breaker === undefined) return NOTHING;
    const isFree = breaker.phase === "draining" || lock.ordered;
    if (!isFree) await sql.rows(REVOKE_PASSES, key);
    // In an ordered queue the line itself waits: tasks that waited before it became ordered join it.
    const [row] = await sql.rows<PassRow>(PASS_TASKS, [
      ...key,
      isFree ? PASSED_TOGETHER : breaker.allowed,
      isFree,
      breaker.until,
    ]);
    if (row === undefined) return NOTHING;
    const isIdle = row.tried === 0 && (isFree || row.live === 0);
    // A breaker for which no task has waited for a day is removed.
    const isOver = breaker.phase === "open" ? breaker.isOld : true;
    const forgotten = isIdle && isOver ? await forgetBreaker(sql, key) : null;
    if (forgotten === "gone") await sendHints(sql, [hintText({ kind: "queue", teamId, queue }, 0)]);
    const isPartial = forgotten === "needed" || (row.tried > 0 && (isFree || row.released < row.tried));
    return { plain: row.plain + (lock.ordered ? 1 : 0), flows: row.flows ?? [], isPartial };
  });
}
