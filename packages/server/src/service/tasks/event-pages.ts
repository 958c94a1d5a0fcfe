import {
  type BellhopEvent,
  comparePositions,
  type EventPosition,
  type GoneTask,
} from "../../domain/event.ts";
import { isEnded, type TaskMoment, type ToldSummary } from "../../domain/task.ts";
import type { Sql } from "../../store/sql.ts";
import {
  type EventEntry,
  type EventRow,
  isQueueEntry,
  isTargetEntry,
  readEvents,
  type TaskEntry,
} from "../../store/tasks/event-reads.ts";
import { readToldTasks } from "../../store/tasks/task-reads.ts";

/** Rows of a team per read. Each holds the events of one statement, a few hundred tasks at most. */
export const ROWS = 100;
/** Streams that catch up concurrently: a thousand reconnects must leave connections to others. */
const AT_ONCE = 4;

export interface EventPages {
  /** The next events of a team after a position, and the new position. */
  read(teamId: number, after: EventPosition): Promise<Page>;
}

interface Page {
  readonly events: readonly BellhopEvent[];
  readonly position: EventPosition;
  /** It was the last page when it was read. */
  readonly isLast: boolean;
}

export function createEventPages(sql: Sql): EventPages {
  const waiting: (() => void)[] = [];
  let reading = 0;

  async function read(teamId: number, after: EventPosition): Promise<Page> {
    const { rows, horizon } = await readEvents(sql, [{ teamId, position: after }], ROWS);
    const events = await describeEvents(sql, teamId, rows, after);
    return { events, position: placeAfter(rows, horizon, after), isLast: rows.length < ROWS };
  }

  return {
    async read(teamId, after) {
      if (reading >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
      else reading += 1;
      try {
        return await read(teamId, after);
      } finally {
        // The slot goes to the next in line.
        const next = waiting.shift();
        if (next === undefined) reading -= 1;
        else next();
      }
    },
  };
}

/** After all read rows, or after the last of them if there may be more. */
export function placeAfter(
  rows: readonly EventRow[],
  horizon: EventPosition,
  before: EventPosition,
): EventPosition {
  const last = rows.length < ROWS ? undefined : rows.at(-1);
  const place =
    last === undefined
      ? horizon
      : { xid: last.xid, seq: last.seq, index: last.entries.length, atMs: last.writtenAt.getTime() };
  return comparePositions(place, before) > 0 ? place : before;
}

/** The events of these rows of one team after a position, with the state at their time. */
export async function describeEvents(
  sql: Sql,
  teamId: number,
  rows: readonly EventRow[],
  after: EventPosition,
): Promise<BellhopEvent[]> {
  const queues = new Map<string, string>();
  for (const { entries, queue } of rows) {
    for (const entry of entries)
      if (!isQueueEntry(entry) && !isTargetEntry(entry)) queues.set(entry[1], queue);
  }
  const tasks = new Map((await readToldTasks(sql, teamId, queues)).map((task) => [task.id, task]));
  return rows.flatMap((row) =>
    row.entries
      .map((entry, at) => tell(row, entry, at + 1, tasks))
      .filter(({ position }) => comparePositions(position, after) > 0),
  );
}

function tell(
  row: EventRow,
  entry: EventEntry,
  index: number,
  tasks: ReadonlyMap<string, ToldSummary>,
): BellhopEvent {
  const { xid, seq, writtenAt: at, sandbox, queue } = row;
  const position = { xid, seq, index, atMs: at.getTime() };
  if (isQueueEntry(entry)) {
    const [type, { createdAt, updatedAt, ...settings }] = entry;
    const times = { createdAt: new Date(createdAt), updatedAt: new Date(updatedAt) };
    return { position, at, sandbox, queue, tags: null, type, settings: { ...settings, ...times } };
  }
  if (isTargetEntry(entry)) {
    const [type, host] = entry;
    return { position, at, sandbox, queue, tags: null, type, host };
  }
  const [type, id, , , , , , tags = null] = entry;
  const task = tasks.get(id);
  // Every property by name: copying an object costs more than the rest of an event.
  if (task === undefined) return { position, at, sandbox, queue, tags, type, gone: goneTask(row, entry) };
  return { position, at, sandbox, queue, tags, type, task, was: momentOf(task, entry, row.at) };
}

function goneTask({ queue }: EventRow, [type, id, shape, status]: TaskEntry): GoneTask {
  return { id, shape, queue, status: type === "task.created" ? "pending" : status };
}

/** Only the result is not stored with the event: it is included while the task still has it. */
function momentOf(
  task: ToldSummary,
  [type, , , was, runAt, error = null, failureReason = null]: TaskEntry,
  at: Date,
): TaskMoment {
  const status = type === "task.created" ? "pending" : was;
  const completedAt = isEnded(status) ? at : null;
  const isSame = completedAt !== null && task.completedAt?.getTime() === completedAt.getTime();
  return {
    status,
    runAt: runAt === undefined ? task.createdAt : readInstant(runAt),
    startedAt: type === "task.created" ? null : task.startedAt,
    completedAt,
    error,
    failureReason,
    result: isSame ? task.result : null,
  };
}

let lastText = "";
let lastInstant = new Date(0);

/** Caches the last: the tasks of a batch share one time. */
function readInstant(text: string): Date {
  if (text !== lastText) {
    lastInstant = new Date(text);
    lastText = text;
  }
  return lastInstant;
}
