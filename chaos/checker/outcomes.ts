import { isFleeting } from "./retention.ts";
import type { TaskChange, TaskRow, TaskStatus } from "./rows.ts";
import type { Stories, Story } from "./stories.ts";
import type { Violation } from "./violation.ts";

const NEXT: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  pending: ["active", "cancelled"],
  active: ["pending", "completed", "failed", "polling", "waiting", "cancelled"],
  polling: ["polling", "completed", "failed", "cancelled"],
  waiting: ["completed", "failed", "cancelled"],
  completed: [],
  failed: [],
  cancelled: [],
};

/**
 * Promise D: a task walks the picture of its states once, or once more for each time that it is restarted, and each step is
 * made by the attempt under way.
 */
export function checkOutcomes(stories: Stories): Violation[] {
  return stories.all.flatMap((story) =>
    story.changes.flatMap((change, index) => {
      const before = story.changes[index - 1];
      // What the retention removes is judged there.
      if (change.op === "delete" && isFleeting(change, stories)) return [];
      const text = before === undefined ? wrongBirth(change) : wrongStep(before, change);
      return text === null ? [] : [violation(story, change, text)];
    }),
  );
}

function violation({ id }: Story, change: TaskChange, text: string): Violation {
  return { promise: "D", text, taskId: id, at: change.committedAt };
}

function wrongBirth({ op, row }: TaskChange): string | null {
  if (op !== "insert") return `its first change is not its insert but ${op}`;
  if (row.status === "pending" && row.attemptCount === 0) return null;
  if (row.status === "active" && row.attemptCount === 1) return null;
  return `it was born ${row.status} with ${row.attemptCount} attempts`;
}

function wrongRetry(before: TaskRow, row: TaskRow): string | null {
  const isBegunAnew =
    (before.status === "failed" || before.status === "cancelled") && row.status === "pending";
  return isBegunAnew && row.retries === before.retries + 1
    ? null
    : `it was retried from ${before.status} to ${row.status}, ${before.retries} times before and ${row.retries} after`;
}

function wrongStep({ row: before }: TaskChange, { op, row }: TaskChange): string | null {
  if (op === "delete")
    return before.status === "pending" ? null : `it was deleted while it was ${before.status}`;
  if (op === "insert") return "it was inserted twice";
  if (row.fence === before.fence) {
    // An answer that came too late is noted in the attempt that was closed without it, and nothing else changes.
    const isNote = row.status === before.status && row.attemptCount === before.attemptCount;
    return isNote ? null : "it changed without a new fence";
  }
  if (row.fence !== before.fence + 1) return `its fence went from ${before.fence} to ${row.fence}`;
  const isExpiry = before.status === "pending" && row.status === "failed" && row.failureReason === "expired";
  if (row.retries !== before.retries) return wrongRetry(before, row);
  if (!isExpiry && !NEXT[before.status].includes(row.status))
    return `it went from ${before.status} to ${row.status}: its outcome was decided twice, or by nobody`;
  if (row.status === "active" && row.attemptCount !== before.attemptCount + 1)
    return `attempt ${row.attemptCount} follows attempt ${before.attemptCount}`;
  if (before.status !== "active") return null;
  const closed = row.attempts.length > before.attempts.length ? row.attempts.at(-1) : undefined;
  if (closed !== undefined && closed.number !== before.attemptCount)
    return `the verdict of attempt ${closed.number} counted while attempt ${before.attemptCount} was under way`;
  return null;
}
