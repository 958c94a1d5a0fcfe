import type { Queue } from "./queue.ts";
import type { Shape, TaskMoment, TaskStatus, ToldSummary } from "./task.ts";

/** The kinds of task events. For an attempt that is not retried only `task.failed` is sent. */
const TASK_EVENTS = [
  "task.created",
  "task.replaced",
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
/** A circuit breaker opened or closed. */
const TARGET_EVENTS = ["target.down", "target.up"] as const;
export const EVENT_TYPES = [...TASK_EVENTS, ...QUEUE_EVENTS, ...TARGET_EVENTS] as const;

export type TaskEventType = (typeof TASK_EVENTS)[number];
export type QueueEventType = (typeof QUEUE_EVENTS)[number];
export type TargetEventType = (typeof TARGET_EVENTS)[number];
export type EventType = (typeof EVENT_TYPES)[number];

/** Events are kept for this long, and a stream can resume within it. */
export const EVENT_HOURS = 24;

/**
 * A position in a team's events: after all lower transactions, after this many rows of this one, and after this many
 * entries of that row. `xid` and `seq` are decimal because they have 64 bits. The time only shows the age of the
 * position.
 */
export interface EventPosition {
  readonly xid: string;
  readonly seq: string;
  readonly index: number;
  readonly atMs: number;
}

/** The subscription filter; null matches everything. */
export interface EventFilter {
  readonly sandbox: boolean;
  readonly types: readonly EventType[] | null;
  readonly queue: string | null;
  readonly tag: string | null;
}

/** The remaining data of a task that was deleted after the event. */
export interface GoneTask {
  readonly id: string;
  readonly shape: Shape;
  readonly queue: string;
  readonly status: TaskStatus;
}

/** A task at the time of its event. */
export interface ToldTask {
  /** The current task; its changing fields are not used. Events of one task share it. */
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
  | (Happened & { readonly type: QueueEventType; readonly settings: Queue })
  | (Happened & { readonly type: TargetEventType; readonly host: string });

export function isWanted(event: BellhopEvent, { sandbox, types, queue, tag }: EventFilter): boolean {
  return (
    event.sandbox === sandbox &&
    (types === null || types.includes(event.type)) &&
    (queue === null || event.queue === queue) &&
    (tag === null || event.tags?.includes(tag) === true)
  );
}

/** Compares two positions: negative, 0 or positive. */
export function comparePositions(one: EventPosition, other: EventPosition): number {
  return compareWhole(one.xid, other.xid) || compareWhole(one.seq, other.seq) || one.index - other.index;
}

function compareWhole(one: string, other: string): number {
  return one.length - other.length || (one < other ? -1 : one > other ? 1 : 0);
}

/** Two parts of 64 bits, and two that are exact as numbers. */
const POSITION = /^([0-9]{1,19})-([0-9]{1,19})-([0-9]{1,9})-([0-9]{1,15})$/;

/** The id of an event: the position after it. Opaque to callers. */
export function formatPosition({ xid, seq, index, atMs }: EventPosition): string {
  return `${xid}-${seq}-${index}-${Math.trunc(atMs)}`;
}

/** Null for an id that no stream has sent. */
export function parsePosition(text: string): EventPosition | null {
  const [, xid, seq, index, atMs] = POSITION.exec(text) ?? [];
  if (xid === undefined || seq === undefined) return null;
  return { xid: plain(xid), seq: plain(seq), index: Number(index), atMs: Number(atMs) };
}

function plain(digits: string): string {
  return digits.replace(/^0+(?=\d)/, "");
}
