import { comparePositions, type EventPosition } from "../../domain/event.ts";
import { type Sql, statement } from "../sql.ts";
import { type EventEntry, type StoredEntry, unfold } from "./event-entries.ts";
import { lookAtEventWriters } from "./event-holders.ts";

export interface EventRow {
  readonly teamId: number;
  readonly xid: string;
  readonly seq: string;
  readonly sandbox: boolean;
  readonly queue: string;
  /** The time in the task's record. */
  readonly at: Date;
  /** The write time: rises from one change of a task to the next. */
  readonly writtenAt: Date;
  /** Those of its entries that the read has. */
  readonly entries: readonly EventEntry[];
  /** The number of its entries before them. */
  readonly skipped: number;
}

export interface EventPlace {
  readonly teamId: number;
  readonly position: EventPosition;
}

/** The next events of a team. */
export interface EventPage {
  /** In their order. */
  readonly rows: readonly EventRow[];
  /** After them; after everything before the horizon if there is no more. */
  readonly position: EventPosition;
  readonly hasMore: boolean;
}

export interface EventRead {
  /** In the order of the places. */
  readonly pages: readonly EventPage[];
  /** No further row can appear before this position. */
  readonly horizon: EventPosition;
  /** No row and no horizon is beyond this position yet. It never falls, which the horizon does. */
  readonly end: EventPosition;
}

/** Stored bytes of an event. A row of many is read whole: a page ends at the row in which it has as many for each event. */
const EVENT_BYTES = 128;

/**
 * The horizon is the oldest open transaction that is no bystander, or before that, while one is open, the place of the look. The row
 * at a team's place may be known as a whole, and does not count: a page always gets on.
 */
const READ_EVENTS = statement(
  "read_events",
  `with opened as materialized (
     select x::text::bigint as xid, x::xid::text = any($5::text[]) as is_bystander
       from pg_snapshot_xip(pg_current_snapshot()) x
   ), oldest as materialized (
     select coalesce(min(xid) filter (where not is_bystander), pg_snapshot_xmax(pg_current_snapshot())::text::bigint) as xid,
            coalesce(bool_or(is_bystander), false) as has_bystander
       from opened
   ), horizon as materialized (
     select (case when is_look then $3 else xid::text end)::xid8 as xid, case when is_look then $4::bigint else 0 end as seq
       from (select xid, has_bystander and $3::text::bigint < xid as is_look from oldest) o)
   select h.xid::text as horizon, h.seq::text as "horizonSeq", pg_snapshot_xmax(pg_current_snapshot())::text as end,
          (extract(epoch from now()) * 1000)::float8 as "nowMs",
          e.team_id as "teamId", e.xid::text as xid, e.seq::text as seq, e.sandbox, e.queue, e.at,
          e.written_at as "writtenAt", e.entries, e.bytes >= $6 as "isFull"
     from horizon h left join lateral (
       select e.*
         from jsonb_to_recordset($1::jsonb) as p("teamId" integer, xid text, seq bigint)
        cross join lateral (
          select e.*, sum(e.size) over (order by e.xid, e.seq) as bytes
            from (select e.*, case when (e.xid, e.seq) = (p.xid::xid8, p.seq) then 0
                                   else pg_column_size(e.entries) end as size
                    from events e
                   where e.team_id = p."teamId" and (e.xid, e.seq) >= (p.xid::xid8, p.seq)
                     and (e.xid, e.seq) < (h.xid, h.seq)
                   order by e.xid, e.seq limit $2 + 1) e) e
        where e.bytes - e.size < $6) e on true
    order by e.team_id, e.xid, e.seq`,
  { prepared: true },
);

type ReadRow = {
  readonly horizon: string;
  readonly horizonSeq: string;
  readonly end: string;
  readonly nowMs: number;
} & (StoredRow | { readonly teamId: null });

type StoredRow = Omit<EventRow, "entries" | "skipped"> & {
  readonly entries: readonly StoredEntry[];
  /** The page ends with it. */
  readonly isFull: boolean;
};

/**
 * Events of these teams after the given positions, each team's at most so many; a page may end within a row, which the next begins
 * with. Only events before the oldest open transaction that may write one: a row that is committed late must not appear
 * behind a reader. The look comes first: a transaction that ends after it is seen by the read.
 */
export async function readEvents(sql: Sql, places: readonly EventPlace[], most: number): Promise<EventRead> {
  const { ended, nextSeq, bystanders } = await lookAtEventWriters(sql);
  const asked = places.map(({ teamId, position: { xid, seq } }) => ({ teamId, xid, seq }));
  const found = await sql.rows<ReadRow>(READ_EVENTS, [
    JSON.stringify(asked),
    most,
    ended,
    nextSeq,
    bystanders,
    most * EVENT_BYTES,
  ]);
  const [first] = found;
  if (first === undefined) throw new Error("The horizon of the events was not told");
  const { horizon: xid, horizonSeq: seq, end, nowMs } = first;
  const horizon = { xid, seq, index: 0, atMs: nowMs };
  const byTeam = new Map<number, StoredRow[]>();
  for (const row of found) {
    if (row.teamId === null) continue;
    const own = byTeam.get(row.teamId);
    if (own === undefined) byTeam.set(row.teamId, [row]);
    else own.push(row);
  }
  return {
    pages: places.map(({ teamId, position }) =>
      pageOf(byTeam.get(teamId) ?? [], position, { most, horizon }),
    ),
    horizon,
    end: { xid: end, seq: "0", index: 0, atMs: nowMs },
  };
}

function pageOf(
  found: readonly StoredRow[],
  after: EventPosition,
  { most, horizon }: { readonly most: number; readonly horizon: EventPosition },
): EventPage {
  const rows: EventRow[] = [];
  let left = most;
  for (const [at, row] of found.entries()) {
    const { xid, seq, writtenAt, isFull } = row;
    const skipped = xid === after.xid && seq === after.seq ? after.index : 0;
    const all = unfold(row.entries);
    const entries = all.slice(skipped, skipped + left);
    rows.push(Object.assign(row, { entries, skipped }));
    left -= entries.length;
    const index = skipped + entries.length;
    if (left === 0 || isFull || at === most)
      return { rows, position: { xid, seq, index, atMs: writtenAt.getTime() }, hasMore: true };
  }
  return { rows, position: comparePositions(horizon, after) > 0 ? horizon : after, hasMore: false };
}

/** Events of a team are stored for this long after its last subscriber. */
const LISTENED_FOR = "interval '1 hour'";

const listening = (name: string, until: string) =>
  statement(
    name,
    `insert into listeners as l (team_id, until)
     select team_id, ${until} from unnest($1::integer[]) as team_id order by team_id
     on conflict (team_id) do update
        set since = case when l.until < excluded.renewed_at or l.since > excluded.since then excluded.since
                         else l.since end,
            renewed_at = excluded.renewed_at, until = greatest(l.until, excluded.until)
     returning l.team_id as "teamId", l.since::text as since`,
  );

const LISTEN_TO = listening("listen_to", `now() + ${LISTENED_FOR}`);
const LISTEN_FOR_EVER = listening("listen_for_ever", "'infinity'::timestamptz");

/**
 * After this commits, every new statement writes events for these teams. Returns since when that has been so without a
 * gap.
 */
export async function listenTo(
  sql: Sql,
  teamIds: readonly number[],
): Promise<{ readonly teamId: number; readonly since: string }[]> {
  return sql.rows(LISTEN_TO, [teamIds]);
}

const OLDER_STATEMENTS = statement(
  "older_statements",
  `select pid || ' ' || xact_start as name from pg_stat_activity
    where datname = current_database() and usename = current_user and backend_type = 'client backend'
      and pid <> pg_backend_pid()
      -- An earlier statement of such a transaction may have changed tasks.
      and (backend_xid is not null
           -- The number of transactions since then: a backend_xmin alone is ambiguous after four billion.
           or (backend_xmin is not null
               and age(backend_xmin) >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint - $1::text::bigint))`,
);

/**
 * The transactions of Bellhop in which a statement may not have seen what this transaction committed: those that look so
 * after its commit, and have the same name when they are looked for again.
 */
export async function olderStatements(sql: Sql, xid: string): Promise<string[]> {
  const rows = await sql.rows<{ name: string }>(OLDER_STATEMENTS, [xid]);
  return rows.map(({ name }) => name);
}

/** For as long as the team has a webhook. */
export async function listenForEver(sql: Sql, teamId: number): Promise<void> {
  await sql.rows(LISTEN_FOR_EVER, [[teamId]]);
}

const LISTEN_NO_MORE = statement(
  "listen_no_more",
  `with soon as (select now() + ${LISTENED_FOR} as at)
   update listeners l set until = soon.at from soon where l.team_id = $1 and l.until = 'infinity'`,
);

/** The last webhook was deleted. A stream may be open: events are stored for another hour, and longer if one is. */
export async function listenNoMore(sql: Sql, teamId: number): Promise<void> {
  await sql.rows(LISTEN_NO_MORE, [teamId]);
}

const REMOVE_OLD_EVENTS = statement(
  "remove_old_events",
  `with ended as (
     delete from listeners where until < now() - interval '1 hour'
   )
   delete from events e using (
     select team_id, xid, seq from events where at < now() - make_interval(hours => $1) order by at limit $2) old
    where e.team_id = old.team_id and e.xid = old.xid and e.seq = old.seq and e.at < now() - make_interval(hours => $1)
   returning 1`,
  { patience: "chore" },
);

/** Deletes a batch of old events, and expired subscriptions. Returns the number of events. */
export async function removeOldEvents(sql: Sql, hours: number, batch: number): Promise<number> {
  const rows = await sql.rows(REMOVE_OLD_EVENTS, [hours, batch]);
  return rows.length;
}
