import type { QueueEventType, TargetEventType } from "../../domain/event.ts";
import type { Queue } from "../../domain/queue.ts";
import { type Sql, type Statement, statement } from "../sql.ts";
import type { Submission } from "./submission.ts";

/*
 * The statements that change tasks also write the events, in the same commit, and only for teams with subscribers. Hot
 * statements exist in two forms, see `askHot`; the others probe a table that is nearly always empty. So the form
 * matters: it must stay a probe whatever the planner estimates, and an event must not be built before a subscriber is
 * found. The hot form with events knows that there is a subscriber and probes once for all tasks of a queue.
 */

/** The columns that `eventCte` needs besides team_id, queue_id, id, status and sandbox, for a returning clause. */
export const EVENT_COLUMNS = `t.shape as event_shape, t.tags as event_tags, t.run_at as told_run_at, t.error as told_error,
   t.failure_reason as event_reason,
   t.run_at = t.created_at and num_nonnulls(t.error, t.failure_reason, t.tags) = 0 as is_compact`;

const BY_STATUS = `case c.status when 'pending' then 'task.attempt_failed' else 'task.' || c.status end`;

/**
 * The CTE that writes the events of another CTE's rows: one row for all tasks of a queue with the same change, in the
 * form of `StoredEntry` in event-entries.ts. Most tasks have no individual values except their id: those share an entry.
 */
export function eventCte(options: {
  /** The CTE of the changed tasks. */
  readonly from: string;
  /** The event type for the status `c.status`; default: the one of that status. */
  readonly type?: string;
  /** The rows, as `c`, that produce an event; default: all. */
  readonly when?: string;
  /** True if the statement runs only when some team has subscribers. */
  readonly isHot?: boolean;
}): string {
  const { from, type = BY_STATUS, when, isHot = false } = options;
  const subscribed = `cross join lateral (
            select 1 from listeners l where l.team_id = c.team_id and l.until > now() limit 1) subscribed`;
  return `told as (
     insert into events (team_id, sandbox, queue, entries)
     select c.team_id, c.sandbox,
            (select q.name from queues q where q.team_id = c.team_id and q.id = c.queue_id),
            case when c.is_compact then json_build_array(json_build_array(${type}, c.ids, c.event_shape, c.status))
                 else c.entries end
       from (
         select c.team_id, c.sandbox, c.queue_id, c.event_shape, c.status, c.is_compact,
                json_agg(c.id) filter (where c.is_compact) as ids,
                json_agg(json_build_array(${type}, c.id, c.event_shape, c.status, c.told_run_at, c.told_error, c.event_reason,
                                          c.event_tags)) filter (where not c.is_compact) as entries
           from ${from} c
          ${isHot ? "" : subscribed}
          ${when === undefined ? "" : `where ${when}`}
          group by c.team_id, c.sandbox, c.queue_id, c.event_shape, c.status, c.is_compact) c
       ${isHot ? subscribed : ""}
   )`;
}

/** The stored type of a handed-off task's creation: it stands for two events, because the task has started as well. */
export const HANDED_OFF = "task.handed_off";

/**
 * The CTE that writes the events of a batch of tasks created in one queue, as in `plainEntries`. `from` has one row, of
 * that queue.
 */
export function plainEventCte(options: {
  readonly from: string;
  readonly queue: string;
  readonly entries: string;
}): string {
  const { from, queue, entries } = options;
  return `told as (
     insert into events (team_id, sandbox, queue, entries)
     select c.team_id, false, ${queue}, ${entries}::json from ${from} c
      where exists (select 1 from listeners l where l.team_id = c.team_id and l.until > now())
   )`;
}

/** For tasks that run at once and have no tags: those of one kind share an entry. */
export function plainEntries(submissions: readonly Submission[]): string {
  const entries: [type: string, ids: string[], shape: string, status: string][] = [];
  for (const { task, reservation } of submissions) {
    const type = reservation === null ? "task.created" : HANDED_OFF;
    const alike = entries.find((entry) => entry[0] === type && entry[2] === task.shape);
    if (alike !== undefined) alike[1].push(task.id);
    else entries.push([type, [task.id], task.shape, reservation === null ? "pending" : "active"]);
  }
  return JSON.stringify(entries);
}

/** For `eventCte`, of tasks that were created. */
export const CREATED = {
  from: "inserted",
  type: `case c.status when 'active' then '${HANDED_OFF}' else 'task.created' end`,
} as const;

/**
 * A hot statement in two forms: one that writes events, and one that costs a fifth less and does nothing if some team has
 * subscribers.
 */
export interface HotStatement {
  readonly withoutEvents: Statement;
  readonly withEvents: Statement;
}

/** The form without events must change and return nothing unless this holds. */
const NO_SUBSCRIBERS = "not exists (select 1 from listeners where until > now())";

/** `text` gets the condition under which it may change rows, and whether it writes events. */
export function hotStatement(
  name: string,
  text: (condition: string, tells: boolean) => string,
): HotStatement {
  return {
    withoutEvents: statement(name, text(NO_SUBSCRIBERS, false), { prepared: true }),
    withEvents: statement(`${name}_with_events`, text("true", true), { prepared: true }),
  };
}

/**
 * Whether a connection last found a team with subscribers: it then runs the form with events at once. The owner of the
 * connection creates one and passes it to every hot statement.
 */
export interface SubscriberMemory {
  /** For how many more statements subscribers are assumed. */
  statementsLeft: number;
}

const REMEMBERED_STATEMENTS = 1_000;

export function createSubscriberMemory(): SubscriberMemory {
  return { statementsLeft: 0 };
}

/**
 * Runs the form without events, and then the form with events if the first did nothing: because a team has subscribers, or
 * because there was nothing to do. Each form decides in its own snapshot, so no change that starts after a subscription
 * goes without an event.
 */
export async function askHot<Row extends object>(
  sql: Sql,
  { withoutEvents, withEvents }: HotStatement,
  values: readonly unknown[],
  memory: SubscriberMemory,
): Promise<Row[]> {
  if (hasSubscribers(memory)) return sql.rows<Row>(withEvents, values);
  const done = await sql.rows<Row>(withoutEvents, values);
  return done.length > 0 ? done : askWithEvents(sql, withEvents, values, memory);
}

/** Runs only the form that is probably right; another statement handles what it does not do. */
export function tryHot<Row extends object>(
  sql: Sql,
  { withoutEvents, withEvents }: HotStatement,
  values: readonly unknown[],
  memory: SubscriberMemory,
  /** Further parameters of the form with events. */
  more: () => readonly unknown[] = () => [],
): Promise<Row[]> {
  return hasSubscribers(memory)
    ? sql.rows<Row>(withEvents, [...values, ...more()])
    : sql.rows<Row>(withoutEvents, values);
}

/** Runs the form that is always right. If it finds rows, the other form skipped them because a team has subscribers. */
export async function askWithEvents<Row extends object>(
  sql: Sql,
  withEvents: Statement,
  values: readonly unknown[],
  memory: SubscriberMemory,
): Promise<Row[]> {
  const rows = await sql.rows<Row>(withEvents, values);
  if (rows.length > 0) memory.statementsLeft = REMEMBERED_STATEMENTS;
  return rows;
}

function hasSubscribers(memory: SubscriberMemory): boolean {
  if (memory.statementsLeft === 0) return false;
  memory.statementsLeft -= 1;
  return true;
}

const WRITE_QUEUE_EVENT = statement(
  "write_queue_event",
  `insert into events (team_id, sandbox, queue, entries)
   select l.team_id, false, $2, $3 from listeners l where l.team_id = $1 and l.until > now()`,
);

/** Must run in the transaction that changes the queue. */
export async function writeQueueEvent(sql: Sql, type: QueueEventType, queue: Queue): Promise<void> {
  await sql.rows(WRITE_QUEUE_EVENT, [queue.teamId, queue.name, JSON.stringify([[type, queue]])]);
}

/** Must run in the transaction that opens or closes the breaker. */
export async function writeTargetEvent(
  sql: Sql,
  event: {
    readonly type: TargetEventType;
    readonly teamId: number;
    readonly queue: string;
    readonly host: string;
  },
): Promise<void> {
  const { type, teamId, queue, host } = event;
  await sql.rows(WRITE_QUEUE_EVENT, [teamId, queue, JSON.stringify([[type, host]])]);
}
