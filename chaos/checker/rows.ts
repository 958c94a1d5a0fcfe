import type { BreakerSettings } from "../../packages/server/src/domain/breaker.ts";

/** The rows of the database as the change log writes them, and how they changed. Instants are milliseconds. */

export type TaskStatus = "pending" | "active" | "waiting" | "polling" | EndedStatus;
export type EndedStatus = "completed" | "failed" | "cancelled";

export function isEnd(status: TaskStatus): status is EndedStatus {
  return status === "completed" || status === "failed" || status === "cancelled";
}

export interface AttemptRecord {
  readonly number: number;
  readonly status: string;
  readonly code: number | null;
  readonly phase: "not_sent" | "sent" | "responded";
}

export interface TaskRow {
  readonly id: string;
  readonly teamId: number;
  readonly queueId: number;
  readonly status: TaskStatus;
  readonly priority: number;
  readonly fence: number;
  readonly workerId: number | null;
  readonly attemptCount: number;
  readonly attempts: readonly AttemptRecord[];
  /** When the attempt under way was claimed, by the row; absent where that is not tried. */
  readonly attemptStartedAt?: number | null;
  readonly runAt: number;
  readonly createdAt: number;
  readonly deadlineAt: number | null;
  /** Absent where that is not tried. */
  readonly completedAt?: number | null;
  readonly hasNotification: boolean;
  readonly idempotencyKey: string | null;
  readonly failureReason: string | null;
  /** How often it was restarted. */
  readonly retries: number;
  /** How many workers died with it; absent where that is not tried. */
  readonly interruptions?: number;
  /** The key of its flow; absent where that is not tried. */
  readonly flow?: string | null;
  /** That it calls; absent where all tasks of a queue call one. */
  readonly host?: string;
  /** Absent where that is not tried. */
  readonly dedupe?: DedupeRow | null;
}

/** The deduplication key of a task. */
export interface DedupeRow {
  readonly key: string;
  readonly mode: "first" | "replace" | "debounce";
  readonly windowMs: number;
  /** Of `debounce`; null otherwise. */
  readonly maxWaitMs: number | null;
  /** The request that the task was last made of. */
  readonly request: string;
}

export interface ScheduleRow {
  readonly id: string;
  /** Null while it is paused. */
  readonly nextRunAt: number | null;
  /** It does not fire while one of its tasks has not ended; absent where that is not tried. */
  readonly skips?: boolean;
}

/** A task that a schedule made. */
export interface FiringRow {
  readonly scheduleId: string;
  readonly taskId: string;
  readonly firesAt: number | null;
}

export interface BulkRow {
  readonly id: string;
  readonly action: "cancel" | "retry" | "delete";
  readonly status: "running" | "completed" | "stopped";
  readonly matched: number;
  readonly done: number;
  readonly skipped: number;
}

export interface QueueRow {
  readonly id: number;
  readonly name: string;
  readonly concurrency: number;
  readonly paused: boolean;
  readonly ordered: boolean;
  /** A failed task stops the line of an ordered queue. */
  readonly blocks: boolean;
  /** Calls that may begin in a period, which is in seconds; both absent where that is not tried. */
  readonly rate?: number | null;
  readonly ratePeriod?: number | null;
  /** Its circuit breaker; absent where that is not tried. */
  readonly breaker?: Pick<BreakerSettings, "failures" | "ratio" | "within"> | null;
  readonly deleted: boolean;
}

export interface BreakerRow {
  readonly queueId: number;
  /** Absent where the queue calls one host alone. */
  readonly host?: string;
  readonly phase: "open" | "closing" | "draining";
  readonly until: number;
}

export interface WorkerRow {
  readonly id: number;
  readonly pid: number;
}

export interface NotificationRow {
  readonly id: string;
  readonly taskId: string;
  readonly status: "pending" | "delivered" | "failed";
  readonly attempts: number;
  readonly nextAt: number;
}

interface Changed<Relation extends string, Row> {
  readonly seq: number;
  readonly committedAt: number;
  readonly relation: Relation;
  readonly op: "insert" | "update" | "delete";
  /** As it is after the change; of a deleted row as it was. */
  readonly row: Row;
}

export type TaskChange = Changed<"tasks", TaskRow>;
export type QueueChange = Changed<"queues", QueueRow>;
export type WorkerChange = Changed<"workers", WorkerRow>;
export type NotificationChange = Changed<"notifications", NotificationRow>;
export type ScheduleChange = Changed<"schedules", ScheduleRow>;
export type FiringChange = Changed<"schedule_firings", FiringRow>;
export type BulkChange = Changed<"bulks", BulkRow>;
export type BreakerChange = Changed<"breakers", BreakerRow>;
export type Change =
  | TaskChange
  | QueueChange
  | WorkerChange
  | NotificationChange
  | ScheduleChange
  | FiringChange
  | BulkChange
  | BreakerChange;
