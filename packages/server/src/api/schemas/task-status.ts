/** The specification's order, and behind it what came later. */
export const STATUSES = [
  "pending",
  "active",
  "completed",
  "failed",
  "waiting",
  "polling",
  "cancelled",
] as const;

/** One or several of them. */
export const STATUS_LIST_PATTERN = `^(?:${STATUSES.join("|")})(?:,(?:${STATUSES.join("|")}))*$`;
