import type { ProblemDetail } from "../../domain/problem.ts";
import type { TaskStatus } from "../../domain/task.ts";
import type { TaskRequest } from "../../domain/task-copies.ts";
import { cronComplaint, cronTimes, isTimeZone } from "./domain-cron.ts";

/** What happens if the task of the last firing has not ended. */
export const OVERLAPS = ["allow", "skip"] as const;
/** Whether the times that passed while no node was up create one task or none. */
export const CATCH_UPS = ["one", "none"] as const;

/** Letters, digits and hyphens: so no name looks like an id. */
export const SCHEDULE_NAME_PATTERN = "^[A-Za-z0-9-]{1,64}$";

/** Reads also find schedules of the QStash-compatible API, whose names may have dots and underscores. */
export const SCHEDULE_READ_PATTERN = "^[A-Za-z0-9._-]{1,64}$";

/** With `catch_up: "none"` a firing later than this is skipped. */
const MISSED_AFTER_MS = 60_000;

export interface ScheduleTerms {
  readonly cron: string;
  readonly timezone: string;
  readonly overlap: (typeof OVERLAPS)[number];
  readonly catchUp: (typeof CATCH_UPS)[number];
  readonly paused: boolean;
  /** The task as written, and its parsed request. */
  readonly task: ScheduledTask;
}

export interface ScheduledTask {
  readonly text: string;
  readonly request: TaskRequest;
}

export const SCHEDULE_DEFAULTS = {
  timezone: "UTC",
  overlap: "allow",
  catchUp: "one",
  paused: false,
} as const;

export interface Schedule extends ScheduleTerms {
  readonly teamId: number;
  readonly id: string;
  readonly name: string;
  /** Its tasks belong to the sandbox. */
  readonly sandbox: boolean;
  /** Null while it is paused. */
  readonly nextRunAt: Date | null;
  readonly lastTask: {
    readonly id: string;
    readonly shape: "queue" | "direct";
    readonly status: TaskStatus;
    readonly createdAt: Date;
  } | null;
  /** Why the last firing created no task; null if it did. */
  readonly lastError: { readonly at: Date; readonly error: string } | null;
  /** The offset of its sandbox clock. */
  readonly aheadSeconds: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** The database time of this read. */
  readonly now: Date;
}

/** As a list has it. */
export type ListedSchedule = Omit<Schedule, "task">;

/** Its own time at an instant, which its cron expression uses. */
export function ownTime({ aheadSeconds }: Pick<Schedule, "aheadSeconds">, at: Date): Date {
  return new Date(at.getTime() + aheadSeconds * 1000);
}

/** The instant of its own time. */
export function clockTime({ aheadSeconds }: Pick<Schedule, "aheadSeconds">, own: Date): Date {
  return new Date(own.getTime() - aheadSeconds * 1000);
}

export function scheduleComplaints(terms: Partial<ScheduleTerms>): ProblemDetail[] {
  const complaints: ProblemDetail[] = [];
  const cron = terms.cron === undefined ? null : cronComplaint(terms.cron);
  if (cron !== null) complaints.push({ field: "cron", error: cron });
  if (terms.timezone !== undefined && !isTimeZone(terms.timezone))
    complaints.push({
      field: "timezone",
      error: "timezone must be an IANA time zone, such as Europe/Berlin",
    });
  return complaints;
}

/**
 * Decides about a due firing and the next one: one firing for all times up to now, and with `catch_up: "none"` only if
 * the newest of them was in the last minute.
 */
export function judgeFiring(
  { cron, timezone, catchUp }: Pick<ScheduleTerms, "cron" | "timezone" | "catchUp">,
  dueAt: Date,
  now: Date,
  timesOf: typeof cronTimes = cronTimes,
): { readonly fires: boolean; readonly next: Date } {
  const times = timesOf(cron, timezone);
  const oldestMs = now.getTime() - MISSED_AFTER_MS;
  const isRecent = () => dueAt.getTime() >= oldestMs || times.next(new Date(oldestMs - 1)) <= now;
  return { fires: catchUp === "one" || isRecent(), next: times.next(now) };
}
