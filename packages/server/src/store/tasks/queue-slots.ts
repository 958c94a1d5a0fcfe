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

const LOCK_QUEUE = statement(
  "lock_queue",
  `select id::float8 as "queueId", epoch, concurrency, paused, ordered, rate, breaker, holds_hosts as "holdsHosts" from queues
    where team_id = $1 and name = $2 and deleted_at is null for no key update`,
);

const ACQUIRE_SLOTS = statement(
  "acquire_slots",
  `with others as (
     select slots, $4::integer / (count(*) over () + 1)::integer as share,
            $4::integer % (count(*) over () + 1)::integer as remainder
       from queue_slots where team_id = $1 and queue_id = $2 and worker_id <> $3
   ), held as (
     select coalesce(sum(slots), 0)::integer as taken, coalesce(max(share), $4) as share,
            coalesce(min(slots) < max(share), false) as contended,
            count(*) filter (where slots > share) < coalesce(max(remainder), 0) as one_more
       from others
   ), due as (
     -- Where shares do not come out even, only as many as there is remainder may have one more.
     select share, greatest(0, least($4 - taken, case when contended then share + one_more::integer else $4 end)) as slots
       from held
   )
   insert into queue_slots as s (team_id, queue_id, worker_id, slots)
   select $1, $2, w.id, greatest($5, due.slots) from due, workers w where w.id = $3
   on conflict (team_id, queue_id, worker_id) do update set slots = excluded.slots
   returning slots, s.xmin::text as version, slots < (select share from due) as starved, slots > (select due.slots from due) as overdrawn`,
);

/**
 * Takes as many slots of a queue as are available, and never fewer than are in use: calls in flight cannot be recalled.
 * The queue's row is locked first, and a second statement sums the other workers' slots; in one statement the sum would
 * be older than the lock, and two workers could both see the last slot free. Each worker gets an equal share; unused
 * shares of others may be taken. Null if the queue does not exist.
 */
export async function acquireSlots(
  database: Database,
  options: {
    readonly teamId: number;
    readonly queue: string;
    readonly workerId: number;
    /** This worker's calls in flight, with their queue: the name may belong to another queue by now. */
    readonly using: { readonly queueId: number; readonly inFlight: number } | null;
  },
): Promise<SlotGrant | null> {
  const { teamId, workerId, using } = options;
  return database.transaction(async (sql) => {
    const [queue] = await sql.rows<Omit<SlotGrant, "slots" | "version" | "starved" | "overdrawn">>(
      LOCK_QUEUE,
      [teamId, options.queue],
    );
    if (queue === undefined) return null;
    const { queueId } = queue;
    const [granted] = await sql.rows<Pick<SlotGrant, "slots" | "version" | "starved" | "overdrawn">>(
      ACQUIRE_SLOTS,
      [teamId, queueId, workerId, queue.concurrency, using?.queueId === queueId ? using.inFlight : 0],
    );
    // No row if the worker was removed: it has no slots then.
    return { ...queue, ...(granted ?? { slots: 0, version: null, starved: false, overdrawn: false }) };
  });
}

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
