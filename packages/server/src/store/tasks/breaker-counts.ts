import {
  type BreakerRow,
  type BreakerSettings,
  judgeBreaker,
  MOST_HELD_HOSTS,
} from "../../domain/breaker.ts";
import { type Database, type Sql, statement } from "../sql.ts";
import { type BreakerKey, changeBreaker, type LockedQueue, lockBreakers } from "./breakers.ts";

/*
 * What attempts say about hosts, counted for the breakers of their queues.
 *
 * The race: a probe is settled, and the next task gets a pass before the result of the probe is counted. So an attempt that matters is
 * counted in the transaction that settles it, which locks the row of the queue first. A node that gives passes sees the probe under
 * way, or its result.
 */

/** What one attempt says about a host. */
export interface HostAttempt extends BreakerKey {
  /** The task, and the fence of its claim. */
  readonly id: string;
  readonly fence: number;
  readonly beganAt: Date;
  readonly isUp: boolean;
}

interface Count extends BreakerKey {
  /** Of the breaker, in seconds. */
  readonly within: number;
  readonly failed: number;
  readonly total: number;
  /** Null: they count whenever they began. */
  readonly beganAt: Date | null;
}

/**
 * The time of an attempt is rounded up to a sixtieth of the window, which thus has at most 60 rows. An attempt that began before the
 * time of an open breaker was over says nothing about the host as it is now.
 */
const COUNT_ATTEMPTS = statement(
  "count_attempts",
  `insert into breaker_counts as c (team_id, queue_id, host, at, failed, total)
   select a.team_id, a.queue_id, a.host, date_bin(a.step, a.now, to_timestamp(0)) + a.step, sum(a.failed), sum(a.total)
     from (select u.*, now() as now, make_interval(secs => u.within / 60.0) as step
             from unnest($1::integer[], $2::bigint[], $3::text[], $4::integer[], $5::integer[], $6::integer[], $7::timestamptz[])
                    as u(team_id, queue_id, host, within, failed, total, began_at)) a
    where not exists (
            select 1 from breakers b
             where b.team_id = a.team_id and b.queue_id = a.queue_id and b.host = a.host and b.until > a.began_at)
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
   on conflict (team_id, queue_id, host, at) do update set failed = c.failed + excluded.failed, total = c.total + excluded.total`,
);

async function writeCounts(sql: Sql, counts: readonly Count[]): Promise<void> {
  await sql.rows(COUNT_ATTEMPTS, [
    counts.map(({ teamId }) => teamId),
    counts.map(({ queueId }) => queueId),
    counts.map(({ host }) => host),
    counts.map(({ within }) => within),
    counts.map(({ failed }) => failed),
    counts.map(({ total }) => total),
    counts.map(({ beganAt }) => beganAt),
  ]);
}

/** Attempts that succeeded while no host of their queue was held, counted together: they change no breaker. */
export async function countSuccesses(
  database: Database,
  hosts: readonly (BreakerKey & { readonly total: number })[],
): Promise<void> {
  await database.transaction(async (sql) => {
    const queues = withBreaker(await lockBreakers(sql, hosts));
    const counts = hosts.flatMap((host): Count[] => {
      const within = queues.get(host.queueId)?.settings.within;
      return within === undefined ? [] : [{ ...host, within, failed: 0, beganAt: null }];
    });
    if (counts.length > 0) await writeCounts(sql, counts);
  });
}

type WatchedQueue = LockedQueue & { readonly settings: BreakerSettings };

function withBreaker(queues: readonly LockedQueue[]): ReadonlyMap<number, WatchedQueue> {
  const found = new Map<number, WatchedQueue>();
  for (const { settings, ...queue } of queues)
    if (settings !== null) found.set(queue.queueId, { ...queue, settings });
  return found;
}

const READ_BREAKERS = statement(
  "read_breakers",
  `select b.phase, b.cooldown, b.allowed, b.until, c.failed, c.total
     from unnest($1::integer[], $2::bigint[], $3::text[], $4::integer[]) with ordinality as a(team_id, queue_id, host, within, place)
    cross join lateral (
            select coalesce(sum(s.failed), 0)::integer as failed, coalesce(sum(s.total), 0)::integer as total
              from breaker_counts s
             where s.team_id = a.team_id and s.queue_id = a.queue_id and s.host = a.host
               and s.at > now() - make_interval(secs => a.within)) c
     left join breakers b on b.team_id = a.team_id and b.queue_id = a.queue_id and b.host = a.host
    order by a.place`,
);

type ReadRow = { readonly failed: number; readonly total: number } & (
  | (BreakerRow & { readonly until: Date })
  | { readonly phase: null }
);

const END_PASSES = statement(
  "end_passes",
  `delete from breaker_tasks p using unnest($1::integer[], $2::uuid[], $3::integer[]) as e(team_id, task_id, fence)
    where p.team_id = e.team_id and p.task_id = e.task_id and p.fence = e.fence - 1 and p.passed_at is not null
   returning p.task_id as id, p.passed_at as "passedAt"`,
);

/** When each of the tasks that had a pass got it, by the task's id. */
async function endPasses(sql: Sql, attempts: readonly HostAttempt[]): Promise<ReadonlyMap<string, Date>> {
  const rows = await sql.rows<{ id: string; passedAt: Date }>(END_PASSES, [
    attempts.map(({ teamId }) => teamId),
    attempts.map(({ id }) => id),
    attempts.map(({ fence }) => fence),
  ]);
  return new Map(rows.map(({ id, passedAt }) => [id, passedAt]));
}

/** The attempts of one transaction to one host. */
interface Host extends BreakerKey {
  readonly queue: WatchedQueue;
  readonly attempts: HostAttempt[];
}

/**
 * Counts attempts in the transaction that settles them, and opens or closes the breakers of their hosts. `locked` are their queues, whose
 * rows the transaction locked before their tasks. Returns whether a pass has ended or a breaker has changed.
 */
export async function countAttempts(
  sql: Sql,
  locked: readonly LockedQueue[],
  attempts: readonly HostAttempt[],
): Promise<boolean> {
  const hosts = byHost(withBreaker(locked), attempts);
  if (hosts.length === 0) return false;
  const counts = hosts.flatMap(({ queue, attempts: of }) =>
    of.map(
      (attempt): Count => ({
        ...attempt,
        within: queue.settings.within,
        failed: attempt.isUp ? 0 : 1,
        total: 1,
      }),
    ),
  );
  await writeCounts(sql, counts);
  const passes = await endPasses(
    sql,
    hosts.flatMap((host) => host.attempts),
  );
  const rows = await sql.rows<ReadRow>(READ_BREAKERS, [
    hosts.map(({ teamId }) => teamId),
    hosts.map(({ queueId }) => queueId),
    hosts.map(({ host }) => host),
    hosts.map(({ queue }) => queue.settings.within),
  ]);
  const rooms = new Map<number, number>();
  let hasChanged = false;
  for (const [index, row] of rows.entries()) {
    const host = hosts[index];
    if (host === undefined) continue;
    const to = judge(host, row, passes);
    if (to === null || (row.phase === null && !(await takeRoom(sql, host.teamId, rooms)))) continue;
    await changeBreaker(sql, host, host.queue.queue, { from: row.phase, to }, row.failed);
    hasChanged = true;
  }
  return hasChanged || passes.size > 0;
}

function byHost(queues: ReadonlyMap<number, WatchedQueue>, attempts: readonly HostAttempt[]): Host[] {
  const hosts = new Map<string, Host>();
  for (const attempt of attempts) {
    const { teamId, queueId, host } = attempt;
    const queue = queues.get(queueId);
    if (queue === undefined) continue;
    const key = `${queueId} ${host}`;
    const found = hosts.get(key);
    if (found === undefined) hosts.set(key, { teamId, queueId, host, queue, attempts: [attempt] });
    else found.attempts.push(attempt);
  }
  return [...hosts.values()];
}

function judge(
  { queue, attempts }: Host,
  row: ReadRow,
  passes: ReadonlyMap<string, Date>,
): BreakerRow | null {
  // The epoch of a breaker is its `until`: a call that it let begin before says nothing about the host as it is now.
  const passed =
    row.phase === null
      ? []
      : attempts.filter(({ id, beganAt }) => {
          // In an ordered queue every attempt while the breaker is open is the probe.
          const at = queue.ordered ? beganAt : passes.get(id);
          return at !== undefined && at >= row.until;
        });
  const passesUp = passed.filter(({ isUp }) => isUp).length;
  return judgeBreaker(
    queue.settings,
    row.phase === null ? null : row,
    { failed: row.failed, total: row.total, passesUp, passesDown: passed.length - passesUp },
    queue.concurrency,
  );
}

const COUNT_BREAKERS = statement(
  "count_breakers",
  "select count(*)::integer as held from breakers where team_id = $1",
);

/**
 * Teams choose their hosts: without a limit one team could have every node work on its breakers alone. `rooms`: what is left of those
 * teams that were asked for already.
 */
async function takeRoom(sql: Sql, teamId: number, rooms: Map<number, number>): Promise<boolean> {
  let room = rooms.get(teamId);
  if (room === undefined) {
    const [row] = await sql.rows<{ held: number }>(COUNT_BREAKERS, [teamId]);
    room = MOST_HELD_HOSTS - (row?.held ?? 0);
  }
  rooms.set(teamId, room - 1);
  return room > 0;
}
