import type { Queue } from "./queue.ts";
import type { Shape, TaskMoment, TaskStatus, ToldSummary } from "./task.ts";

/** What can happen to a task, as a listener is told. An attempt that is not retried is told by `task.failed` alone. */
const TASK_EVENTS = [
  "task.created",
  "task.started",
  "task.attempt_failed",
  "task.waiting",
  "task.polling",
  "task.completed",
  "task.failed",
  "task.cancelled",
] as const;
const QUEUE_EVENTS = [
  "queue.created",
  "queue.changed",
  "queue.paused",
  "queue.resumed",
  "queue.deleted",
] as const;
export const EVENT_TYPES = [...TASK_EVENTS, ...QUEUE_EVENTS] as const;

export type TaskEventType = (typeof TASK_EVENTS)[number];
export type QueueEventType = (typeof QUEUE_EVENTS)[number];
export type EventType = (typeof EVENT_TYPES)[number];

/** So long events are kept, and a stream can be taken up again where it broke off. */
export const EVENT_HOURS = 24;

/**
 * A place in a team's events: after everything of lower transactions, after so many rows of this one, and after so many
 * entries of that row. `xid` and `seq` are decimal: they have 64 bits. The instant only tells how old the place is.
 */
export interface EventPosition {
  readonly xid: string;
  readonly seq: string;
  readonly index: number;
  readonly atMs: number;
}

/** Which events a listener wants; null: whatever they are. */
export interface EventFilter {
  readonly sandbox: boolean;
  readonly types: readonly EventType[] | null;
  readonly queue: string | null;
  readonly tag: string | null;
}

/** All that is left of a task that was deleted after the event. */
export interface GoneTask {
  readonly id: string;
  readonly shape: Shape;
  readonly queue: string;
  readonly status: TaskStatus;
}

/** A task as it was when something happened to it. */
export interface ToldTask {
  /** As it is now: what of it changes is not to be told. Events of one task have the same one. */
  readonly task: ToldSummary;
  readonly was: TaskMoment;
}

interface Happened {
  readonly position: EventPosition;
  readonly at: Date;
  readonly sandbox: boolean;
  readonly queue: string;
  readonly tags: readonly string[] | null;
}

export type BellhopEvent =
  | (Happened & { readonly type: TaskEventType } & (ToldTask | { readonly gone: GoneTask }))
  | (Happened & { readonly type: QueueEventType; readonly settings: Queue });

export function isWanted(event: BellhopEvent, { sandbox, types, queue, tag }: EventFilter): boolean {
  return (
    event.sandbox === sandbox &&
    (types === null || types.includes(event.type)) &&
    (queue === null || event.queue === queue) &&
    (tag === null || event.tags?.includes(tag) === true)
  );
}

/** The earlier of two places has less before it. Negative, 0 or positive, as a comparison is. */
export function comparePositions(one: EventPosition, other: EventPosition): number {
  return compareWhole(one.xid, other.xid) || compareWhole(one.seq, other.seq) || one.index - other.index;
}

function compareWhole(one: string, other: string): number {
  return one.length - other.length || (one < other ? -1 : one > other ? 1 : 0);
}

/** Of two parts that are 64 bits wide, and two that are exact as numbers. */
const POSITION = /^([0-9]{1,19})-([0-9]{1,19})-([0-9]{1,9})-([0-9]{1,15})$/;

/** The id of an event: where to go on after it. Opaque to callers. */
export function formatPosition({ xid, seq, index, atMs }: EventPosition): string {
  return `${xid}-${seq}-${index}-${Math.trunc(atMs)}`;
}

/** Null for what no stream has given out. */
export function parsePosition(text: string): EventPosition | null {
  const [, xid, seq, index, atMs] = POSITION.exec(text) ?? [];
  if (xid === undefined || seq === undefined) return null;
  return { xid: plain(xid), seq: plain(seq), index: Number(index), atMs: Number(atMs) };
}

function plain(digits: string): string {
  return digits.replace(/^0+(?=\d)/, "");
}
