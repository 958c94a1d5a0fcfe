import type { Database, Sql } from "../sql.ts";

/** A worker's view of a queue, with the slots it holds there. */
export interface SlotGrant {
  readonly queueId: number;
  readonly epoch: number;
  readonly concurrency: number;
  readonly paused: boolean;
  readonly slots: number;
  /** Of the row that says so: it changes with every grant. Null where there is none. */
  readonly version: string | null;
  /** Others hold so much that this worker has less than its share: they should be told. */
  readonly starved: boolean;
  /** In flight is more than is due to this worker: each call that ends should give its slot back. */
  readonly overdrawn: boolean;
}

/**
 * Takes as many slots of a queue as are to be had, and never fewer than are in use: what is in flight cannot be
 * recalled. The queue's row is locked first and the others are summed in a second statement; in one statement the
 * sum would be older than the lock, and two workers could both see the last slot free.
 * Each worker is due an equal share; what others leave unasked is free to take. Null if there is no such queue.
 */
export async function acquireSlots(
  database: Database,
  options: {
    readonly teamId: number;
    readonly queue: string;
    readonly workerId: number;
    /** What this worker has in flight, and in which queue: the name may stand for another one by now. */
    readonly using: { readonly queueId: number; readonly inFlight: number } | null;
  },
): Promise<SlotGrant | null> {
  const { teamId, workerId, using } = options;
  return database.transaction(async (sql) => {
    const [queue] = await sql.rows<Pick<SlotGrant, "queueId" | "epoch" | "concurrency" | "paused">>(
      `select id::float8 as "queueId", epoch, concurrency, paused from queues
        where team_id = $1 and name = $2 and deleted_at is null for no key update`,
      [teamId, options.queue],
    );
    if (queue === undefined) return null;
    const { queueId } = queue;
    const [granted] = await sql.rows<Pick<SlotGrant, "slots" | "version" | "starved" | "overdrawn">>(
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
      [teamId, queueId, workerId, queue.concurrency, using?.queueId === queueId ? using.inFlight : 0],
    );
    // No row where the worker is no more: it has no slots then.
    return { ...queue, ...(granted ?? { slots: 0, version: null, starved: false, overdrawn: false }) };
  });
}

/**
 * Gives the slots of queues back that this worker has no use for, as they were granted: a release that the database
 * carries out late must not take what the same worker was granted since. `xmin` is the transaction that wrote a row.
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
  await sql.rows(
    `delete from queue_slots s
      using jsonb_to_recordset($2::jsonb) as r(team_id integer, queue_id bigint, version text)
      where s.team_id = r.team_id and s.queue_id = r.queue_id and s.worker_id = $1 and s.xmin::text = r.version`,
    [workerId, JSON.stringify(rows)],
  );
}

/**
 * Leaves this worker only the slots that its calls under way use. ExtractedPayloads out late it does no harm: slots are only ever
 * taken away, by a worker that starts nothing any more.
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
  await sql.rows(
    `with used as materialized (
       select * from jsonb_to_recordset($2::jsonb) as u(team_id integer, queue_id bigint, slots integer)
     ), gone as (
       delete from queue_slots s using used u
        where s.team_id = u.team_id and s.queue_id = u.queue_id and s.worker_id = $1 and u.slots = 0
     )
     update queue_slots s set slots = u.slots from used u
      where s.team_id = u.team_id and s.queue_id = u.queue_id and s.worker_id = $1 and u.slots > 0 and s.slots > u.slots`,
    [workerId, JSON.stringify(rows)],
  );
}
