import { type Sql, statement } from "../sql.ts";

/*
 * A statement that may write events locks their table before it begins, and its transaction keeps the lock until its end.
 * Readers wait for the transactions that have it, and pass all others: see docs/decisions/0048-event-writers.md.
 */

/** In `pg_locks l`: that lock. Relations of other databases may have the same number. */
const HOLDS_EVENTS = `l.locktype = 'relation' and l.mode = 'RowExclusiveLock' and l.relation = 'events'::regclass
  and l.database = (select oid from pg_database where datname = current_database())`;

const LOOK_AT_EVENT_WRITERS = statement(
  "look_at_event_writers",
  // The subquery refers to the row of `begun`, so PostgreSQL reads the locks after it.
  `with begun as materialized (
     select pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1 as ended,
            last_value + is_called::integer as next_seq
       from events_seq_seq)
   select b.ended::text as ended, b.next_seq::text as "nextSeq",
          (select coalesce(jsonb_agg(w.xid), '[]')
             from (select unnest(array_agg(l.transactionid::text) filter (where l.locktype = 'transactionid')) as xid
                     from pg_locks l
                    where b.ended is not null and l.granted
                      and (l.locktype = 'transactionid' and l.mode = 'ExclusiveLock' or ${HOLDS_EVENTS})
                    group by l.virtualtransaction, l.pid
                   having not bool_or(l.locktype = 'relation')) w) as bystanders
     from begun b`,
  { prepared: true },
);

export interface WritersLook {
  /** The last id of a transaction that had ended, and the next number of an event. */
  readonly ended: string;
  readonly nextSeq: string;
  /** The open transactions without the lock, by their ids without the epoch, as `pg_locks` has them. */
  readonly bystanders: readonly string[];
}

/**
 * A bystander that takes the lock later has all its events at `ended` or after it, because `event_place()` says so, and
 * from `nextSeq` on: both are read before the locks are.
 */
export async function lookAtEventWriters(sql: Sql): Promise<WritersLook> {
  const [look] = await sql.rows<WritersLook>(LOOK_AT_EVENT_WRITERS);
  if (look === undefined) throw new Error("The writers of events were not told");
  return look;
}

const FIND_EVENT_HOLDERS = statement(
  "find_event_holders",
  `select l.virtualtransaction || ' ' || coalesce(l.pid, 0) as name, l.pid,
          coalesce(a.application_name, p.gid, '') as application, coalesce(a.usename, p.owner, '') as "user",
          case when l.pid is null then 'prepared' else a.state end as state,
          (extract(epoch from clock_timestamp() - coalesce(a.xact_start, p.prepared)) * 1000)::float8 as "forMs"
     from pg_locks l
     left join pg_stat_activity a on a.pid = l.pid
     left join pg_prepared_xacts p on l.pid is null and p.transaction = any(
       select t.transactionid from pg_locks t
        where t.locktype = 'transactionid' and t.pid is null and t.virtualtransaction = l.virtualtransaction)
    where l.granted and ${HOLDS_EVENTS}
    order by "forMs" desc nulls first limit 20`,
);

/** An open transaction that has written events, or may have. */
export interface EventHolder {
  /** Of its session; a prepared transaction has none, and its name is the application. */
  readonly pid: number | null;
  readonly application: string;
  readonly user: string;
  /** As PostgreSQL calls it: `active`, `idle in transaction` and others, or `prepared`. Null: hidden from our role. */
  readonly state: string | null;
}

/** Some of those that have been open for longest, with a name each. `forMs` null: hidden from our role. */
export async function findEventHolders(
  sql: Sql,
): Promise<(EventHolder & { readonly name: string; readonly forMs: number | null })[]> {
  return sql.rows(FIND_EVENT_HOLDERS);
}
