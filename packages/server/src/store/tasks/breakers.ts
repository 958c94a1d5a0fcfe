import {
  type BreakerPhase,
  type BreakerRow,
  type BreakerSettings,
  judgeBreaker,
  MOST_HELD_HOSTS,
} from "../../domain/breaker.ts";
import { type Database, type Sql, statement } from "../sql.ts";
import { writeTargetEvent } from "./event-writes.ts";
import { hintText, sendHints } from "./hints.ts";

/*
 * The circuit breakers of queues, each for one host. A node that changes one locks the row of the queue first and then reads, so
 * that what several nodes count is decided on together, and only one of them gives a pass.
 */

/** A breaker: one queue and one host. */
export interface BreakerKey {
  readonly teamId: number;
  readonly queueId: number;
  readonly host: string;
}

/** What a worker's attempts say about one host. */
export interface HostAttempts extends BreakerKey {
  readonly settings: BreakerSettings;
  readonly failed: number;
  readonly total: number;
  /** Those that may have been of tasks with a pass. */
  readonly passes: readonly { readonly id: string; readonly fence: number; readonly isUp: boolean }[];
}

/** The time of an attempt is rounded up to a sixtieth of the window, which thus has at most 60 rows. */
const COUNT_ATTEMPTS = statement(
  "count_attempts",
  `insert into breaker_counts as c (team_id, queue_id, host, at, failed, total)
   select a.team_id, a.queue_id, a.host, date_bin(a.step, a.now, to_timestamp(0)) + a.step, sum(a.failed), sum(a.total)
     from (select u.*, now() as now, make_interval(secs => u.within / 60.0) as step
             from unnest($1::integer[], $2::bigint[], $3::text[], $4::integer[], $5::integer[], $6::integer[])
                    as u(team_id, queue_id, host, within, failed, total)) a
     join queues q on q.team_id = a.team_id and q.id = a.queue_id
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
   on conflict (team_id, queue_id, host, at) do update set failed = c.failed + excluded.failed, total = c.total + excluded.total`,
);

const LOCK_BREAKERS = statement(
  "lock_breakers",
  `select q.name as queue, q.breaker as settings, q.concurrency, q.ordered, q.holds_hosts as "holdsHosts"
     from queues q where q.team_id = $1 and q.id = $2 and q.deleted_at is null for no key update`,
);

interface WatchedQueue {
  readonly queue: string;
  readonly settings: BreakerSettings | null;
  readonly concurrency: number;
  readonly ordered: boolean;
  readonly holdsHosts: boolean;
}

const READ_BREAKER = statement(
  "read_breaker",
  `select b.phase, b.cooldown, b.allowed, c.failed, c.total
     from (select coalesce(sum(failed), 0)::integer as failed, coalesce(sum(total), 0)::integer as total
             from breaker_counts
            where team_id = $1 and queue_id = $2 and host = $3 and at > now() - make_interval(secs => $4::float8)) c
     left join breakers b on b.team_id = $1 and b.queue_id = $2 and b.host = $3`,
);

type ReadRow = { readonly failed: number; readonly total: number } & (BreakerRow | { readonly phase: null });

const END_PASSES = statement(
  "end_passes",
  `delete from breaker_tasks p using unnest($2::uuid[], $3::integer[]) as e(task_id, fence)
    where p.team_id = $1 and p.task_id = e.task_id and p.fence = e.fence - 1 and p.passed_at is not null
   returning p.task_id as id`,
);

const WRITE_BREAKER = statement(
  "write_breaker",
  `with fresh as (delete from breaker_counts where team_id = $1 and queue_id = $2 and host = $3)
   insert into breakers as b (team_id, queue_id, host, phase, failures, opened_at, until, cooldown, allowed)
   values ($1, $2, $3, $4, $5, now(), now() + make_interval(secs => $6::float8), $6::integer, $7)
   on conflict (team_id, queue_id, host) do update
      set phase = excluded.phase, allowed = excluded.allowed, cooldown = excluded.cooldown,
          failures = case when b.phase = 'open' then b.failures else excluded.failures end,
          opened_at = case when b.phase = 'open' then b.opened_at else excluded.opened_at end,
          until = case when excluded.phase = 'open' then excluded.until else b.until end`,
);

/** Runs after the rows have changed. A new epoch: no hand-off or claim that was decided before it happens any more. */
const MARK_QUEUE = statement(
  "mark_holding_queue",
  `update queues q set holds_hosts = not q.holds_hosts, epoch = q.epoch + 1
    where q.team_id = $1 and q.id = $2
      and q.holds_hosts <> exists (
            select 1 from breakers b where b.team_id = $1 and b.queue_id = $2 and b.phase <> 'draining')
   returning true as "hasChanged"`,
);

/**
 * Counts attempts, and opens or closes the breakers of their hosts. Every node hears of a change. Returns whether a pass
 * has ended or a breaker has changed.
 */
export async function recordAttempts(
  database: Database,
  hosts: readonly HostAttempts[],
): Promise<{ readonly hasNews: boolean }> {
  const counted = hosts.filter(({ total }) => total > 0);
  // On its own: the locks of this statement are gone before a queue is locked.
  if (counted.length > 0)
    await database.rows(COUNT_ATTEMPTS, [
      counted.map(({ teamId }) => teamId),
      counted.map(({ queueId }) => queueId),
      counted.map(({ host }) => host),
      counted.map(({ settings }) => settings.within),
      counted.map(({ failed }) => failed),
      counted.map(({ total }) => total),
    ]);
  let hasNews = false;
  for (const attempts of hosts) {
    if (attempts.failed === 0 && attempts.passes.length === 0) continue;
    const changed = await database.transaction((sql) => decide(sql, attempts));
    hasNews ||= changed;
  }
  return { hasNews };
}

async function decide(sql: Sql, attempts: HostAttempts): Promise<boolean> {
  const { teamId, queueId, host } = attempts;
  const [queue] = await sql.rows<WatchedQueue>(LOCK_BREAKERS, [teamId, queueId]);
  if (queue === undefined || queue.settings === null) return false;
  const ended = await endPasses(sql, attempts, queue);
  const [row] = await sql.rows<ReadRow>(READ_BREAKER, [teamId, queueId, host, queue.settings.within]);
  if (row === undefined) return false;
  const current = row.phase === null ? null : row;
  const passesUp = ended.filter(({ isUp }) => isUp).length;
  const seen = {
    failed: row.failed,
    total: row.total,
    passesUp,
    passesDown: ended.length - passesUp,
  };
  const next = judgeBreaker(queue.settings, current, seen, queue.concurrency);
  const isRefused = current === null && next !== null && !(await hasRoom(sql, teamId));
  if (next === null || isRefused) return ended.length > 0;
  await changeBreaker(sql, attempts, queue.queue, { from: current?.phase ?? null, to: next }, row.failed);
  return true;
}

const COUNT_BREAKERS = statement(
  "count_breakers",
  "select count(*)::integer as held from breakers where team_id = $1",
);

/** Teams choose their hosts: without a limit one team could have every node work on its breakers alone. */
async function hasRoom(sql: Sql, teamId: number): Promise<boolean> {
  const [row] = await sql.rows<{ held: number }>(COUNT_BREAKERS, [teamId]);
  return (row?.held ?? 0) < MOST_HELD_HOSTS;
}

/** In an ordered queue every attempt while the breaker is open is the probe. */
async function endPasses(
  sql: Sql,
  { teamId, passes }: HostAttempts,
  { ordered }: WatchedQueue,
): Promise<HostAttempts["passes"]> {
  if (passes.length === 0 || ordered) return passes;
  const rows = await sql.rows<{ id: string }>(END_PASSES, [
    teamId,
    passes.map(({ id }) => id),
    passes.map(({ fence }) => fence),
  ]);
  const ids = new Set(rows.map(({ id }) => id));
  return passes.filter(({ id }) => ids.has(id));
}

/** The queue's row is locked. */
async function changeBreaker(
  sql: Sql,
  { teamId, queueId, host }: BreakerKey,
  queue: string,
  { from, to }: { readonly from: BreakerPhase | null; readonly to: BreakerRow },
  failures: number,
): Promise<void> {
  await sql.rows(WRITE_BREAKER, [teamId, queueId, host, to.phase, failures, to.cooldown, to.allowed]);
  await sql.rows(MARK_QUEUE, [teamId, queueId]);
  const isDown = to.phase === "open";
  if (isDown !== (from === "open"))
    await writeTargetEvent(sql, { type: isDown ? "target.down" : "target.up", teamId, queue, host });
  await sendHints(sql, [hintText({ kind: "queue", teamId, queue }, 0)]);
}

const CLOSING = statement(
  "breakers_to_close",
  `select b.host, b.phase, b.cooldown, b.allowed from breakers b
    where b.team_id = $1 and b.queue_id = $2 and ($3::text is null or b.host = $3) and b.phase <> 'draining' order by b.host`,
);

/**
 * Closes the breakers of a queue, or the one of a host. With `atOnce` all tasks that waited may go; otherwise more and more
 * of them. Returns the hosts whose breaker was open. Runs in a transaction.
 */
export async function closeBreakers(
  sql: Sql,
  {
    teamId,
    queueId,
    host,
  }: { readonly teamId: number; readonly queueId: number; readonly host: string | null },
  atOnce = false,
): Promise<string[]> {
  const [queue] = await sql.rows<WatchedQueue>(LOCK_BREAKERS, [teamId, queueId]);
  if (queue === undefined) return [];
  const rows = await sql.rows<BreakerRow & { host: string }>(CLOSING, [teamId, queueId, host]);
  const closed: string[] = [];
  for (const { host: name, ...row } of rows) {
    if (row.phase === "open") closed.push(name);
    else if (!atOnce) continue;
    const isFree = atOnce || queue.ordered || queue.concurrency === 1;
    const to = { phase: isFree ? "draining" : "closing", cooldown: row.cooldown, allowed: 1 } as const;
    await changeBreaker(sql, { teamId, queueId, host: name }, queue.queue, { from: row.phase, to }, 0);
  }
  return closed;
}
