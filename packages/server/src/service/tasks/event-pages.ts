import type { BellhopEvent, EventPosition, GoneTask } from "../../domain/event.ts";
import { isEnded, type TaskMoment, type ToldSummary } from "../../domain/task.ts";
import type { Sql } from "../../store/sql.ts";
import {
  type EventEntry,
  isQueueEntry,
  isTargetEntry,
  type TaskEntry,
} from "../../store/tasks/event-entries.ts";
import { type EventPage, type EventRow, readEvents } from "../../store/tasks/event-reads.ts";
import { readToldTasks } from "../../store/tasks/task-reads.ts";

/** Events of a team per read: so many are described and serialized in one turn of the event loop. */
export const PAGE_EVENTS = 200;
/** Characters of their serialized form, which the last of them may exceed. */
export const PAGE_CHARACTERS = 2 ** 18;
/** Streams that catch up concurrently: a thousand reconnects must leave connections to others. */
const AT_ONCE = 4;

export interface EventPages {
  /** The next events of a team after a position. */
  read(teamId: number, after: EventPosition): Promise<DescribedPage>;
}

/** Events with the state at their time, and how far they go. */
export interface DescribedPage extends Told {
  readonly events: readonly BellhopEvent[];
}

/** How far a reader has got. */
export interface Told {
  readonly position: EventPosition;
  readonly hasMore: boolean;
}

export function createEventPages(sql: Sql): EventPages {
  const waiting: (() => void)[] = [];
  let reading = 0;

  async function read(teamId: number, position: EventPosition): Promise<DescribedPage> {
    const { pages } = await readEvents(sql, [{ teamId, position }], PAGE_EVENTS);
    const [page = { rows: [], position, hasMore: false }] = pages;
    return describeEvents(sql, teamId, page);
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

export async function describeEvents(sql: Sql, teamId: number, page: EventPage): Promise<DescribedPage> {
  const { rows, position, hasMore } = page;
  const queues = new Map<string, string>();
  for (const { entries, queue } of rows) {
    for (const entry of entries)
      if (!isQueueEntry(entry) && !isTargetEntry(entry)) queues.set(entry[1], queue);
  }
  const tasks = new Map((await readToldTasks(sql, teamId, queues)).map((task) => [task.id, task]));
  const events = rows.flatMap((row) =>
    row.entries.map((entry, at) => tell(row, entry, row.skipped + at + 1, tasks)),
  );
  return { events, position, hasMore };
}

/** Serializes a page, or its beginning if that is this long already. `write` returns the characters so far. */
export function tellPage(
  { events, position, hasMore }: DescribedPage,
  characters: number,
  write: (event: BellhopEvent) => number,
): Told {
  let last: BellhopEvent | null = null;
  let written = 0;
  for (const event of events) {
    if (last !== null && written >= characters) return { position: last.position, hasMore: true };
    written = write(event);
    last = event;
  }
  return { position, hasMore };
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
