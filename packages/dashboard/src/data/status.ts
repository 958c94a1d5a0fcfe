import type { TaskSummary } from "@bellhop/sdk";
import { completeList } from "./complete-list.ts";

export type Status = TaskSummary["status"];

/** The states of a task, in the order of its life. */
export const STATUSES = completeList<Status>({
  pending: true,
  active: true,
  waiting: true,
  polling: true,
  completed: true,
  failed: true,
  cancelled: true,
});

/** Those that have a task still to go on. */
export const OPEN_STATUSES = ["active", "waiting", "polling", "pending"] as const;

export function isEnded(status: Status): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

export function statusOf(text: string | undefined): Status | undefined {
  return STATUSES.find((status) => status === text);
}
