import type { BreakerPhase, BreakerRow, BreakerSettings } from "../../domain/breaker.ts";
import { type Sql, statement } from "../sql.ts";
import { writeTargetEvent } from "./event-writes.ts";
import { hintText, sendHints } from "./hints.ts";

/*
 * The circuit breakers of queues, each for one host. A node that counts attempts or changes a breaker locks the row of the queue first and
 * then reads. So what several nodes count is decided on together, and only one of them gives a pass.
 */

/** A breaker: one queue and one host. */
export interface BreakerKey {
  readonly teamId: number;
  readonly queueId: number;
  readonly host: string;
}

/** A queue whose row is locked. */
export interface LockedQueue {
  readonly teamId: number;
  readonly queueId: number;
  readonly queue: string;
  readonly settings: BreakerSettings | null;
  readonly concurrency: number;
  readonly ordered: boolean;
}

const LOCK_BREAKERS = statement(
  "lock_breakers",
  `select q.team_id as "teamId", q.id::float8 as "queueId", q.name as queue, q.breaker as settings, q.concurrency, q.ordered
     from (select distinct * from unnest($1::integer[], $2::bigint[]) as a(team_id, id)) a
     join queues q on q.team_id = a.team_id and q.id = a.id and q.deleted_at is null
    order by q.id for no key update of q`,
);

/** Locks the rows of queues, those of all teams in one order. They must be locked before the tasks whose attempts are counted. */
export async function lockBreakers(
  sql: Sql,
  queues: readonly Pick<BreakerKey, "teamId" | "queueId">[],
): Promise<LockedQueue[]> {
  if (queues.length === 0) return [];
  return sql.rows<LockedQueue>(LOCK_BREAKERS, [
    queues.map(({ teamId }) => teamId),
    queues.map(({ queueId }) => queueId),
  ]);
}

const WRITE_BREAKER = statement(
  "write_breaker",
  `with fresh as (delete from breaker_counts where team_id = $1 and queue_id = $2 and host = $3)
   insert into breakers as b (team_id, queue_id, host, phase, failures, opened_at, until, cooldown, allowed)
   values ($1, $2, $3, $4, $5, now(), now() + make_interval(secs => $6::float8), $6::integer, $7)
   on conflict (team_id, queue_id, host) do update
      set phase = excluded.phase, allowed = excluded.allowed, cooldown = excluded.cooldown,
          failures = case when b.phase = 'open' then b.failures else excluded.failures end,
          opened_at = case when b.phase = 'open' then b.opened_at else excluded.opened_at end,
          until = case when excluded.phase = 'open' then excluded.until else least(b.until, excluded.opened_at) end`,
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

/** The queue's row is locked. Every node hears of the change. */
export async function changeBreaker(
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
  const [queue] = await lockBreakers(sql, [{ teamId, queueId }]);
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
