import type { Seen } from "./history.ts";
import type { TaskChange } from "./rows.ts";
import type { Stories, Story } from "./stories.ts";
import type { Violation } from "./violation.ts";

/** Clocks of two processes on one machine, read at different moments. */
const CLOCK_MS = 5;

/** Promise B: whatever completes a task was said by a target or a client, before. */
export function checkCompletion(stories: Stories): Violation[] {
  return stories.all.flatMap((story) =>
    story.changes.flatMap((change, index): Violation[] => {
      const before = story.changes[index - 1];
      if (before === undefined || change.op !== "update") return [];
      const text = unfounded(story, before, change);
      return text === null ? [] : [{ promise: "B", text, taskId: story.id, at: change.committedAt }];
    }),
  );
}

function unfounded(story: Story, before: TaskChange, change: TaskChange): string | null {
  const to = change.row.status;
  if (before.row.status === to) return null;
  if (before.row.status === "active" && (to === "completed" || to === "waiting" || to === "polling")) {
    const { attemptCount } = before.row;
    const wasGood = story.calls.some((call) => call.attempt === attemptCount && isGood(call, change));
    return wasGood ? null : `it became ${to}, and no target answered attempt ${attemptCount} with a 2xx`;
  }
  if (to !== "completed") return null;
  const calledBack = story.answers.some(
    ({ action, at, status }) =>
      action === "callback" &&
      at <= change.committedAt + CLOCK_MS &&
      (status === null || status === 200 || status >= 500),
  );
  const polledDone = story.polls.some((poll) => poll.says === "done" && isGood(poll, change));
  return calledBack || polledDone
    ? null
    : `it completed from ${before.row.status} without a callback or a done poll`;
}

function isGood({ status, whole, begunAt }: Seen, { committedAt }: TaskChange): boolean {
  const isSuccess = status !== null && status >= 200 && status < 300 && whole !== "no";
  return isSuccess && begunAt <= committedAt + CLOCK_MS;
}
