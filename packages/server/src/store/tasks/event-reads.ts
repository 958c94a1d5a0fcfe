import type { EventPosition, QueueEventType, TargetEventType, TaskEventType } from "../../domain/event.ts";
import type { Queue } from "../../domain/queue.ts";
import type { FailureReason, Shape, TaskStatus } from "../../domain/task.ts";
import { type Sql, statement } from "../sql.ts";
import { lookAtEventWriters } from "./event-holders.ts";
import { HANDED_OFF } from "./event-writes.ts";

/** One change of a task. */
export type TaskEntry = readonly [
  type: TaskEventType,
  id: string,
  shape: Shape,
  status: TaskStatus,
  /** Default: the creation time. */
  runAt?: string,
  error?: string | null,
  reason?: FailureReason | null,
  tags?: readonly string[] | null,
];
/** The queue as JSON has it: its instants are text. */
export type QueueEntry = readonly [type: QueueEventType, queue: Queue];
/** A change of a target. */
export type TargetEntry = readonly [type: TargetEventType, host: string];
export type EventEntry = TaskEntry | QueueEntry | TargetEntry;

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
  readonly entries: readonly EventEntry[];
}

export interface EventPlace {
  readonly teamId: number;
  readonly position: EventPosition;
}

export interface EventPage {
  /** Of each team in its order. */
  readonly rows: readonly EventRow[];
  /** No further row can appear before this position. */
  readonly horizon: EventPosition;
  /** No row and no horizon is beyond this position yet. It never falls, which the horizon does. */
  readonly end: EventPosition;
}

/** The horizon is the oldest open transaction that is no bystander, or before that, while one is open, the place of the look. */
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
          coalesce(e.written_at, e.at) as "writtenAt", e.entries
     from horizon h left join lateral (
       select e.*
         from jsonb_to_recordset($1::jsonb) as p("teamId" integer, xid text, seq bigint)
        cross join lateral (
          select e.* from events e
           where e.team_id = p."teamId" and (e.xid, e.seq) >= (p.xid::xid8, p.seq)
             and (e.xid, e.seq) < (h.xid, h.seq)
           order by e.xid, e.seq limit $2) e) e on true
    order by e.team_id, e.xid, e.seq`,
  { prepared: true },
);

type ReadRow = {
  readonly horizon: string;
  readonly horizonSeq: string;
  readonly end: string;
  readonly nowMs: number;
} & (StoredRow | { readonly teamId: null });

type StoredRow = Omit<EventRow, "entries"> & { readonly entries: readonly StoredEntry[] };

/** See `writeTargetEvent`. */
type StoredTarget = readonly [type: TargetEventType, ids: readonly [], host: string];

/** As `eventCte` writes it: tasks without individual values share one entry. */
type StoredEntry =
  | QueueEntry
  | StoredTarget
  | readonly [
      type: TaskEventType | typeof HANDED_OFF,
      ids: string | readonly string[],
      ...told: ToldOf<TaskEntry>,
    ];
type ToldOf<Entry> = Entry extends readonly [unknown, unknown, ...infer Told] ? Told : never;

function unfold(stored: readonly StoredEntry[]): EventEntry[] {
  const entries: EventEntry[] = [];
  for (const entry of stored) {
    if (isQueueEntry(entry)) {
      entries.push(entry);
      continue;
    }
    if (isOfTarget(entry)) {
      entries.push([entry[0], entry[2]]);
      continue;
    }
    const [type, ids, ...told] = entry;
    for (const id of typeof ids === "string" ? [ids] : ids) {
      if (type !== HANDED_OFF) entries.push([type, id, ...told]);
      else entries.push(["task.created", id, ...told], ["task.started", id, ...told]);
    }
  }
  return entries;
}

export function isQueueEntry(entry: StoredEntry | EventEntry): entry is QueueEntry {
  return entry[0].startsWith("queue.");
}

function isOfTarget(entry: StoredEntry): entry is StoredTarget {
  return entry[0] === "target.down" || entry[0] === "target.up";
}

export function isTargetEntry(entry: EventEntry): entry is TargetEntry {
  return entry[0] === "target.down" || entry[0] === "target.up";
}

/**
 * Events of these teams after the given positions, limited per team; the first may be partly known. Only events before
 * the oldest open transaction that may write one: a row that is committed late must not appear behind a reader. The look
 * comes first: a transaction that ends after it is seen by the read.
 */
export async function readEvents(sql: Sql, places: readonly EventPlace[], most: number): Promise<EventPage> {
  const { ended, nextSeq, bystanders } = await lookAtEventWriters(sql);
  const asked = places.map(({ teamId, position: { xid, seq } }) => ({ teamId, xid, seq }));
  const found = await sql.rows<ReadRow>(READ_EVENTS, [
    JSON.stringify(asked),
    most,
    ended,
    nextSeq,
    bystanders,
  ]);
  const [first] = found;
  if (first === undefined) throw new Error("The horizon of the events was not told");
  const { horizon, horizonSeq, end, nowMs } = first;
  return {
    rows: found
      .filter((row) => row.teamId !== null)
      .map((row) => Object.assign(row, { entries: unfold(row.entries) })),
    horizon: { xid: horizon, seq: horizonSeq, index: 0, atMs: nowMs },
    end: { xid: end, seq: "0", index: 0, atMs: nowMs },
  };
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
      and pid <> pg_backend_pid() and backend_xmin is not null
      -- The number of transactions since then: a backend_xmin alone is ambiguous after four billion.
      and age(backend_xmin) >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint - $1::text::bigint`,
);

/**
 * The transactions of Bellhop whose statement under way may not see what this transaction committed: those that look so
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
