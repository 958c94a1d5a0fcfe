/** The states of a task, in the order of its life. */
export const STATUSES = [
  "pending",
  "active",
  "waiting",
  "polling",
  "completed",
  "failed",
  "cancelled",
] as const;

export type Status = (typeof STATUSES)[number];

/** Those that have a task still to go on. */
export const OPEN_STATUSES = ["active", "waiting", "polling", "pending"] as const;

export function isEnded(status: Status): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

export function statusOf(text: string | undefined): Status | undefined {
  return STATUSES.find((status) => status === text);
}
