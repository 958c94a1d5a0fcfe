export const BULK_ACTIONS = ["cancel", "retry", "delete"] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

export const BULK_STATUSES = ["running", "completed", "stopped"] as const;
export type BulkStatus = (typeof BULK_STATUSES)[number];

/** Tasks a second. */
export const BULK_RATE = { least: 1, most: 1000, default: 50 } as const;

/** One action on many tasks, worked off in the background. */
export interface Bulk {
  readonly id: string;
  readonly action: BulkAction;
  readonly status: BulkStatus;
  /** How many tasks it is about: those that fitted the filter when it was asked for. */
  readonly matched: number;
  readonly done: number;
  /** Not in a fitting state when their turn came. */
  readonly skipped: number;
  readonly createdAt: Date;
}

/** More at once would hold their rows, and those who wait for them, for longer. */
const MOST_PER_TURN = 100;
const LARGEST_STEP = 50;
const TURNS_PER_SECOND = 10;

/** How many tasks have their turn together: a small step, and as many as the rate allows for the time that the turn is late. */
export function turnSize({ rate, lateMs }: { readonly rate: number; readonly lateMs: number }): number {
  const step = Math.min(LARGEST_STEP, Math.max(1, Math.floor(rate / TURNS_PER_SECOND)));
  return Math.min(MOST_PER_TURN, step + Math.floor((lateMs * rate) / 1000));
}
