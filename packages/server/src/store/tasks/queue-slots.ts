import type { BreakerSettings } from "../../domain/breaker.ts";
import { type Database, type Sql, statement } from "../sql.ts";

/** A worker's view of a queue, with the slots it holds there. */
export interface SlotGrant {
  readonly queueId: number;
  readonly epoch: number;
  readonly concurrency: number;
  readonly paused: boolean;
  /**
   * Its tasks start one at a time, in the order of creation: see ordered-claims.ts. None is handed off: whether the line is
   * free is known only under its lock.
   */
  readonly ordered: boolean;
  /** At most so many calls begin in a period: see queue-rates.ts. None is handed off. Null: it has no rate. */
  readonly rate: number | null;
  /** Null: it has no circuit breaker. */
  readonly breaker: BreakerSettings | null;
  /** A breaker holds hosts back: no task is handed off, and claims ask for each host. */
  readonly holdsHosts: boolean;
  readonly slots: number;
  /** The version of the row, which changes with every grant. Null if there is none. */
  readonly version: string | null;
  /** Other workers hold so many slots that this worker has less than its share: they should be told. */
  readonly starved: boolean;
  /** More calls are in flight than this worker's share: each call that ends should return its slot. */
  readonly overdrawn: boolean;
}

/** A queue whose slots a worker requests. */
export interface SlotRequest {
  readonly teamId: number;
  readonly queue: string;
  /** The worker's calls in flight, with their queue: the name may belong to another queue by now. */
  readonly using: { readonly queueId: number; readonly inFlight: number } | null;
}

type LockedQueue = Omit<SlotGrant, "slots" | "version" | "starved" | "overdrawn"> & {
  readonly place: number;
  readonly teamId: number;
};
type Granted = Pick<SlotGrant, "queueId" | "slots" | "version" | "starved" | "overdrawn">;

const LOCK_QUEUES = statement(
  "lock_queues",
  `select r.place::integer, q.team_id as "teamId", q.id::float8 as "queueId", q.epoch, q.concurrency, q.paused, q.ordered, q.rate,
          q.breaker, q.holds_hosts as "holdsHosts"
     from unnest($1::integer[], $2::text[]) with ordinality as r(team_id, name, place)
     join queues q on q.team_id = r.team_id and q.name = r.name and q.deleted_at is null
    order by q.id for no key update of q`,
);

const ACQUIRE_SLOTS = statement(
  "acquire_slots",
  `with worker as materialized (
     -- A removal of the worker waits for this transaction, or this transaction for the removal: never each for the other.
     select id from workers where id = $1 for key share
   ), due as materialized (
     -- Where shares do not come out even, only as many as there is remainder may have one more.
     select q.team_id, q.queue_id, q.in_flight, held.share,
            greatest(0, least(concurrency - taken, case when contended then share + one_more::integer else concurrency end)) as slots
       from unnest($2::integer[], $3::bigint[], $4::integer[], $5::integer[]) as q(team_id, queue_id, concurrency, in_flight)
      cross join lateral (
        select coalesce(sum(slots), 0)::integer as taken, coalesce(max(share), concurrency) as share,
               coalesce(min(slots) < max(share), false) as contended,
               count(*) filter (where slots > share) < coalesce(max(remainder), 0) as one_more
          from (select slots, concurrency / (count(*) over () + 1)::integer as share,
                       concurrency % (count(*) over () + 1)::integer as remainder
                  from queue_slots s
                 where s.team_id = q.team_id and s.queue_id = q.queue_id and s.worker_id <> $1) others
      ) held
   ), granted as (
     insert into queue_slots as s (team_id, queue_id, worker_id, slots)
     select due.team_id, due.queue_id, worker.id, greatest(due.in_flight, due.slots) from worker, due order by due.queue_id
     on conflict (team_id, queue_id, worker_id) do update set slots = excluded.slots
     returning s.queue_id, s.slots, s.xmin::text as version
   )
   select queue_id::float8 as "queueId", granted.slots, version, granted.slots < share as starved, granted.slots > due.slots as overdrawn
     from granted join due using (queue_id) order by queue_id`,
);

/**
 * Takes as many slots of each queue as are available, and never fewer than are in use: calls in flight cannot be recalled.
 * The queues' rows are locked first, and a second statement sums the other workers' slots; in one statement the sum would
 * be older than the lock, and two workers could both see the last slot free. Each worker gets an equal share; unused
 * shares of others may be taken. The answer has a grant for each request, null if the queue does not exist.
 *
 * All rows are locked in the order of their ids, so that two workers that request the same queues never wait for each other.
 */
export async function acquireSlots(
  database: Database,
  workerId: number,
  requests: readonly SlotRequest[],
): Promise<readonly (SlotGrant | null)[]> {
  return database.transaction(async (sql) => {
    const queues = await sql.rows<LockedQueue>(LOCK_QUEUES, [
      requests.map(({ teamId }) => teamId),
      requests.map(({ queue }) => queue),
    ]);
    const inFlight = ({ place, queueId }: LockedQueue) => {
      const using = requests[place - 1]?.using;
      return using?.queueId === queueId ? using.inFlight : 0;
    };
    const granted = await sql.rows<Granted>(ACQUIRE_SLOTS, [
      workerId,
      queues.map(({ teamId }) => teamId),
      queues.map(({ queueId }) => queueId),
      queues.map(({ concurrency }) => concurrency),
      queues.map(inFlight),
    ]);
    const slotsOf = new Map(granted.map((each) => [each.queueId, each]));
    const grants: (SlotGrant | null)[] = requests.map(() => null);
    for (const { place, teamId: _, ...queue } of queues) {
      // No slots if the worker was removed.
      const { slots, version, starved, overdrawn } = slotsOf.get(queue.queueId) ?? NO_SLOTS;
      grants[place - 1] = { ...queue, slots, version, starved, overdrawn };
    }
    return grants;
  });
}

const NO_SLOTS = { slots: 0, version: null, starved: false, overdrawn: false };

const RELEASE_SLOTS = statement(
  "release_slots",
  `delete from queue_slots s
    using jsonb_to_recordset($2::jsonb) as r(team_id integer, queue_id bigint, version text)
    where s.team_id = r.team_id and s.queue_id = r.queue_id and s.worker_id = $1 and s.xmin::text = r.version`,
);

/**
 * Returns slots exactly as granted: a late release must not take what the same worker was granted since. `xmin` is the
 * transaction that wrote a row.
 */
export async function releaseSlots(
  sql: Sql,
  workerId: number,
  grants: readonly (Pick<SlotGrant, "queueId" | "version"> & { readonly teamId: number })[],
): Promise<void> {
  const rows = grants.map(({ teamId, queueId, version }) => ({
    team_id: teamId,
    queue_id: queueId,
    version,
  }));
  await sql.rows(RELEASE_SLOTS, [workerId, JSON.stringify(rows)]);
}

const SHRINK_SLOTS = statement(
  "shrink_slots",
  `with used as materialized (
     select * from jsonb_to_recordset($2::jsonb) as u(team_id integer, queue_id bigint, slots integer)
   ), gone as (
     delete from queue_slots s using used u
      where s.team_id = u.team_id and s.queue_id = u.queue_id and s.worker_id = $1 and u.slots = 0
   )
   update queue_slots s set slots = u.slots from used u
    where s.team_id = u.team_id and s.queue_id = u.queue_id and s.worker_id = $1 and u.slots > 0 and s.slots > u.slots`,
);

/**
 * Keeps only the slots of this worker's calls in flight. A late execution does no harm: slots are only removed, from a
 * worker that starts no further call.
 */
export async function shrinkSlots(
  sql: Sql,
  workerId: number,
  used: readonly { readonly teamId: number; readonly queueId: number; readonly inFlight: number }[],
): Promise<void> {
  const rows = used.map(({ teamId, queueId, inFlight }) => ({
    team_id: teamId,
    queue_id: queueId,
    slots: inFlight,
  }));
  await sql.rows(SHRINK_SLOTS, [workerId, JSON.stringify(rows)]);
}
