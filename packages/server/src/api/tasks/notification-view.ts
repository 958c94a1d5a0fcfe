import type { Task } from "../../domain/task.ts";
import { recordText } from "./task-view.ts";

/**
 * The notification body. It contains the record as in the API, without the state of the notifications: every try has
 * the same body.
 */
export function notificationText(task: Task): string {
  const head = JSON.stringify({
    type: `task.${task.status}`,
    timestamp: task.completedAt?.toISOString() ?? null,
  });
  return `${head.slice(0, -1)},"data":{"task":${recordText({ ...task, notifications: null })}}}`;
}
