import type { AttemptRecord } from "../../chaos/checker/rows.ts";
import type { BreakerPhase, BreakerSettings } from "../../packages/server/src/domain/breaker.ts";
import type { Dedupe } from "../../packages/server/src/domain/dedupe.ts";
import type { FailureReason, TaskResult, TaskStatus } from "../../packages/server/src/domain/task.ts";

/*
 * The tables as far as the engine's statements read and write them, under the columns' own names. Instants are milliseconds.
 * A row is replaced, never changed, so that the log of changes can keep it.
 * Counts (queue_tallies) are left out: no decision of the engine reads them.
 */

export interface AttemptColumn extends AttemptRecord {
  readonly at: string;
  readonly ms: number | null;
  readonly error: string | null;
}

export interface TaskColumns {
  readonly team_id: number;
  readonly id: string;
  readonly queue_id: number;
  readonly shape: string;
  readonly priority: number;
  readonly sandbox: boolean;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>> | null;
  readonly body: string | null;
  readonly body_is_json: boolean;
  readonly message: object | null;
  readonly sign: boolean;
  readonly timeout_seconds: number;
  readonly max_retries: number;
  readonly backoff: string;
  readonly retry_delay_seconds: number;
  readonly retry_max_delay_seconds: number | null;
  readonly no_retry_statuses: readonly number[] | null;
  readonly expires_in_seconds: number | null;
  readonly provider: string | null;
  readonly poll_config: { readonly maxDuration: number } | null;
  readonly wait_for_callback: boolean;
  readonly max_wait_seconds: number | null;
  readonly on_complete_url: string | null;
  readonly on_failure_url: string | null;
  readonly scheduled_for: number | null;
  readonly idempotency_key: string | null;
  readonly created_at: number;
  readonly callback_hash: string | null;
  readonly callback_sealed: string | null;
  readonly status: TaskStatus;
  readonly run_at: number;
  readonly started_at: number | null;
  readonly deadline_at: number | null;
  readonly completed_at: number | null;
  readonly fence: number;
  readonly worker_id: number | null;
  readonly attempt_count: number;
  readonly attempt_started_at: number | null;
  readonly failures: number;
  readonly interruptions: number;
  readonly attempts: readonly AttemptColumn[];
  readonly poll: object | null;
  readonly result: TaskResult | null;
  readonly error: string | null;
  readonly failure_reason: FailureReason | null;
  readonly retries: number;
  readonly flow: string | null;
  readonly dedupe: Dedupe | null;
  /** Pending, and in no index of due tasks: its host is held, see held-host-statements.ts. */
  readonly is_held: boolean;
}

export interface QueueColumns {
  readonly team_id: number;
  readonly id: number;
  readonly name: string;
  readonly concurrency: number;
  readonly max_retries: number;
  readonly backoff: string;
  readonly retry_delay_seconds: number;
  readonly retry_max_delay_seconds: number;
  readonly no_retry_statuses: readonly number[] | null;
  readonly timeout_seconds: number;
  readonly paused: boolean;
  readonly ordered: boolean;
  readonly on_failure: string;
  readonly rate: number | null;
  readonly rate_period: number | null;
  readonly breaker: BreakerSettings | null;
  readonly holds_hosts: boolean;
  readonly epoch: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly deleted_at: number | null;
}

export interface WorkerColumns {
  readonly id: number;
  readonly name: string;
  readonly expires_at: number;
}

export interface SlotColumns {
  readonly team_id: number;
  readonly queue_id: number;
  readonly worker_id: number;
  readonly slots: number;
  /** Stands for `xmin`: another one with every write. */
  readonly version: string;
}

/** The line of an ordered queue or flow. */
export interface LineColumns {
  readonly isOpen: boolean;
  /** The tasks that have begun, with how often each had been retried by hand. */
  readonly begun: ReadonlyMap<string, number>;
}

export interface NotificationColumns {
  readonly team_id: number;
  readonly id: string;
  readonly task_id: string;
  readonly url: string;
  readonly status: "pending" | "delivered" | "failed";
  readonly attempts: number;
  readonly next_at: number;
  readonly created_at: number;
  readonly fence: number;
  readonly worker_id: number | null;
  readonly last_error: string | null;
}

export interface KeyColumns {
  readonly team_id: number;
  readonly key: string;
  readonly sandbox: boolean;
  readonly task_id: string;
  readonly request_hash: string;
  readonly created_at: number;
}

export interface DedupeKeyColumns {
  readonly team_id: number;
  readonly sandbox: boolean;
  readonly key: string;
  readonly task_id: string | null;
  readonly callback_sealed: string | null;
  readonly free_at: number;
}

export interface BreakerColumns {
  readonly team_id: number;
  readonly queue_id: number;
  readonly host: string;
  readonly phase: BreakerPhase;
  readonly failures: number;
  readonly opened_at: number;
  readonly until: number;
  readonly cooldown: number;
  readonly allowed: number;
}

/** A task that waits for a host, or has its pass. */
export interface BreakerTaskColumns {
  readonly task_id: string;
  readonly queue_id: number;
  readonly host: string;
  readonly priority: number;
  readonly due_at: number;
  readonly fence: number;
  readonly passed_at: number | null;
}

/** The attempts to a host by time. */
export type BreakerCounts = ReadonlyMap<number, { readonly failed: number; readonly total: number }>;

export interface BulkColumns {
  readonly team_id: number;
  readonly id: string;
  readonly action: "cancel" | "retry" | "delete";
  readonly environment: string;
  readonly rate: number;
  readonly matched: number;
  readonly done: number;
  readonly skipped: number;
  readonly status: "running" | "completed" | "stopped";
  readonly next_at: number;
  readonly created_at: number;
}

export interface ScheduleColumns {
  readonly team_id: number;
  readonly id: string;
  readonly name: string;
  readonly sandbox: boolean;
  readonly cron: string;
  readonly timezone: string;
  readonly overlap: string;
  readonly catch_up: string;
  readonly task: string;
  readonly request: string;
  readonly next_run_at: number | null;
  readonly last_task_id: string | null;
  readonly created_at: number;
  readonly updated_at: number;
}

export interface FiringColumns {
  readonly schedule_id: string;
  readonly task_id: string;
  readonly fires_at: number;
}

/** One event: where the store puts those of a statement into one row, the model has a row for each. */
export interface EventColumns {
  readonly team_id: number;
  /** The place, see `event_place()` of the store. */
  readonly xid: number;
  readonly seq: number;
  readonly queue: string;
  readonly at: number;
  readonly entry: readonly [type: string, id: string, shape: string, status: TaskStatus];
}

/** A flow: the figures that its tasks carried. Pauses and stored limits are not simulated. */
export interface FlowColumns {
  readonly key: string;
  readonly concurrency: number | null;
  readonly rate: number | null;
  readonly period: number | null;
  readonly ordered: boolean | null;
}

export interface HoldColumns {
  readonly flow: string;
  readonly task_id: string;
  readonly fence: number;
  readonly permit_at: number | null;
}

export interface Tables {
  readonly flows: Map<string, FlowColumns>;
  /** By task and fence. */
  readonly holds: Map<string, HoldColumns>;
  /** The counts by flow and time. */
  readonly permits: Map<string, Map<number, number>>;
  readonly tasks: Map<string, TaskColumns>;
  readonly queues: Map<number, QueueColumns>;
  /** Of queues with a rate: the counts by queue and time. */
  readonly queuePermits: Map<number, ReadonlyMap<number, number>>;
  readonly workers: Map<number, WorkerColumns>;
  readonly slots: Map<string, SlotColumns>;
  /** Which others are due, and in which order, the model finds in the tasks. */
  readonly lines: Map<number, LineColumns>;
  /** Of ordered flows, by their keys. */
  readonly flowLines: Map<string, LineColumns>;
  readonly notifications: Map<string, NotificationColumns>;
  readonly keys: Map<string, KeyColumns>;
  readonly dedupeKeys: Map<string, DedupeKeyColumns>;
  /** By queue and host, like the counts. */
  readonly breakers: Map<string, BreakerColumns>;
  readonly breakerCounts: Map<string, BreakerCounts>;
  /** By task. */
  readonly breakerTasks: Map<string, BreakerTaskColumns>;
  readonly bulks: Map<string, BulkColumns>;
  /** The tasks of a bulk action by its id: of those that are simulated there is one portion each. */
  readonly portions: Map<string, readonly string[]>;
  readonly schedules: Map<string, ScheduleColumns>;
  readonly firings: FiringColumns[];
  /** Since which transaction a team is listened to. */
  readonly listeners: Map<number, number>;
  readonly events: EventColumns[];
}

/** A committed change, as a trigger would see it: the row after it, or of a deleted row as it was. */
export type RowChange =
  | { readonly relation: "tasks"; readonly op: Op; readonly row: TaskColumns }
  | { readonly relation: "queues"; readonly op: Op; readonly row: QueueColumns }
  | { readonly relation: "workers"; readonly op: Op; readonly row: WorkerColumns }
  | { readonly relation: "notifications"; readonly op: Op; readonly row: NotificationColumns }
  | { readonly relation: "breakers"; readonly op: Op; readonly row: BreakerColumns }
  | { readonly relation: "bulks"; readonly op: Op; readonly row: BulkColumns }
  | { readonly relation: "schedules"; readonly op: Op; readonly row: ScheduleColumns }
  | { readonly relation: "schedule_firings"; readonly op: Op; readonly row: FiringColumns };
type Op = "insert" | "update" | "delete";

export function emptyTables(): Tables {
  return {
    flows: new Map(),
    holds: new Map(),
    permits: new Map(),
    tasks: new Map(),
    queues: new Map(),
    queuePermits: new Map(),
    workers: new Map(),
    slots: new Map(),
    lines: new Map(),
    flowLines: new Map(),
    notifications: new Map(),
    keys: new Map(),
    dedupeKeys: new Map(),
    breakers: new Map(),
    breakerCounts: new Map(),
    breakerTasks: new Map(),
    bulks: new Map(),
    portions: new Map(),
    schedules: new Map(),
    firings: [],
    listeners: new Map(),
    events: [],
  };
}
