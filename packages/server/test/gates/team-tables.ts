import type { TaskStatus } from "../../src/domain/task.ts";

/* Rows as the tests read them. Times are milliseconds from the instant of the claims. */

export interface TaskRow {
  readonly id: string;
  readonly queue_id: number;
  readonly flow: string | null;
  readonly status: TaskStatus;
  readonly priority: number;
  readonly sandbox: boolean;
  readonly url: string;
  readonly run_at: number;
  readonly created_at: number;
  readonly deadline_at: number | null;
  readonly completed_at: number | null;
  readonly fence: number;
  readonly attempt_count: number;
  readonly failures: number;
  readonly interruptions: number;
  readonly retries: number;
  readonly failure_reason: string | null;
  readonly dismissed_at: number | null;
  readonly due_at: number | null;
  readonly flow_due_at: number | null;
}

export interface QueueRow {
  readonly id: number;
  readonly name: string;
  readonly concurrency: number;
  readonly paused: boolean;
  readonly ordered: boolean;
  readonly on_failure: "continue" | "block";
  readonly rate: number | null;
  readonly rate_period: number | null;
  readonly holds_hosts: boolean;
}

export interface FlowRow {
  readonly key: string;
  readonly concurrency: number | null;
  readonly rate: number | null;
  readonly period: number | null;
  readonly ordered: boolean | null;
  readonly on_failure: "continue" | "block" | null;
  readonly hold: "call" | "task" | null;
  readonly task_concurrency: number | null;
  readonly task_rate: number | null;
  readonly task_period: number | null;
  readonly task_ordered: boolean | null;
  readonly paused: boolean;
  readonly paused_until: number | null;
  readonly line_at: number | null;
}

export interface HoldRow {
  readonly flow: string;
  readonly task_id: string;
  readonly fence: number;
  readonly permit_at: number | null;
}

export interface InLineRow {
  readonly task_id: string;
  readonly retries: number;
}

/** What a team has, by table. */
export interface TeamTables {
  readonly tasks: readonly TaskRow[];
  readonly queues: readonly QueueRow[];
  readonly queue_permits: readonly {
    readonly queue_id: number;
    readonly at: number;
    readonly count: number;
  }[];
  readonly queue_lines: readonly { readonly queue_id: number }[];
  readonly line_tasks: readonly (InLineRow & {
    readonly queue_id: number;
    readonly begun: boolean;
    readonly created_at: number;
  })[];
  readonly flows: readonly FlowRow[];
  readonly flow_permits: readonly { readonly flow: string; readonly at: number; readonly count: number }[];
  readonly flow_holds: readonly HoldRow[];
  readonly flow_line_tasks: readonly (InLineRow & { readonly flow: string })[];
  readonly breakers: readonly {
    readonly queue_id: number;
    readonly host: string;
    readonly phase: "open" | "closing" | "draining";
    readonly until: number;
  }[];
  readonly breaker_tasks: readonly {
    readonly task_id: string;
    readonly passed_at: number | null;
    readonly fence: number;
  }[];
}
