export const BULK_ACTIONS = ["cancel", "retry", "delete", "dismiss"] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

export const BULK_STATUSES = ["running", "completed", "stopped"] as const;
export type BulkStatus = (typeof BULK_STATUSES)[number];

/** Tasks a second. */
export const BULK_RATE = { least: 1, most: 1000, default: 50 } as const;

/** One action on many tasks, processed in the background. */
export interface Bulk {
  readonly id: string;
  readonly action: BulkAction;
  readonly status: BulkStatus;
  /** The number of tasks that matched the filter when it was requested. */
  readonly matched: number;
  readonly done: number;
  /** Not in a suitable state when they were processed. */
  readonly skipped: number;
  readonly createdAt: Date;
}

/** A larger turn would lock rows, and block their waiters, for longer. */
export const MOST_PER_TURN = 100;
const LARGEST_STEP = 50;
const TURNS_PER_SECOND = 10;

/** The number of tasks per turn: a small step, plus as many as the rate allows for the delay of the turn. */
export function turnSize({ rate, lateMs }: { readonly rate: number; readonly lateMs: number }): number {
  const step = Math.min(LARGEST_STEP, Math.max(1, Math.floor(rate / TURNS_PER_SECOND)));
  return Math.min(MOST_PER_TURN, step + Math.floor((lateMs * rate) / 1000));
}
