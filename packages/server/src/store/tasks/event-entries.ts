import type { QueueEventType, TargetEventType, TaskEventType } from "../../domain/event.ts";
import type { Queue } from "../../domain/queue.ts";
import type { FailureReason, Shape, TaskStatus } from "../../domain/task.ts";
import { HANDED_OFF } from "./event-writes.ts";

/** What a row of events holds: as it is read, and as it is stored. */

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

/** As `eventCte` writes it: tasks without individual values share one entry. */
export type StoredEntry =
  | QueueEntry
  | TargetEntry
  | readonly [
      type: TaskEventType | typeof HANDED_OFF,
      ids: string | readonly string[],
      ...told: ToldOf<TaskEntry>,
    ];
type ToldOf<Entry> = Entry extends readonly [unknown, unknown, ...infer Told] ? Told : never;

export function unfold(stored: readonly StoredEntry[]): EventEntry[] {
  const entries: EventEntry[] = [];
  for (const entry of stored) {
    if (isQueueEntry(entry) || isTargetEntry(entry)) {
      entries.push(entry);
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

export function isTargetEntry(entry: StoredEntry | EventEntry): entry is TargetEntry {
  return entry[0] === "target.down" || entry[0] === "target.up";
}
