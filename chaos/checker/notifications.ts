import type { History } from "./history.ts";
import { waitsItsTurn } from "./rest.ts";
import { isEnd, type TaskChange } from "./rows.ts";
import type { Stories, Story } from "./stories.ts";
import type { Violation } from "./violation.ts";

const CLOCK_MS = 5;

/** Who asked to be told is told how the task ended, after it has, and nobody else is told anything. */
export function checkNotifications({ rest }: History, stories: Stories): Violation[] {
  const later = new Set(
    rest.notifications.filter((each) => waitsItsTurn(each, rest.at)).map(({ taskId }) => taskId),
  );
  return stories.all.flatMap((story) => {
    // Of a task that was retried there are several.
    const ends = story.changes.filter(({ op, row }, index) => {
      const before = story.changes[index - 1];
      return op !== "delete" && isEnd(row.status) && (before === undefined || !isEnd(before.row.status));
    });
    const end = ends.at(-1);
    const complaint = (text: string, at: number | null): Violation => ({
      promise: "told",
      text,
      taskId: story.id,
      at,
    });
    const wrong = story.notifications.flatMap((notification) => {
      const text = wrongTelling(notification, ends);
      return text === null ? [] : [complaint(text, notification.begunAt)];
    });
    const wasTold = story.notifications.some((each) => isDelivered(each, end)) || later.has(story.id);
    const hasEnded = story.last !== null && isEnd(story.last.status);
    const isOwed = hasEnded && end?.row.hasNotification === true && !wasTold;
    return isOwed ? [...wrong, complaint("it ended, and its caller was never told", end.committedAt)] : wrong;
  });
}

function wrongTelling(
  { begunAt, says }: Story["notifications"][number],
  ends: readonly TaskChange[],
): string | null {
  const [first] = ends;
  if (first === undefined) return "its caller was told of an end that never came";
  if (!first.row.hasNotification) return "someone was told who did not ask";
  const past = ends.filter(({ committedAt }) => begunAt >= committedAt - CLOCK_MS);
  if (past.length === 0) return "its caller was told before it had ended";
  const expected = past.map(({ row }) => `task.${row.status}`);
  return expected.includes(says ?? "") ? null : `its caller was told ${says}, and it is ${expected.at(-1)}`;
}

/** And tells of this end, not of one before it. */
function isDelivered(
  { status, whole, begunAt }: Story["notifications"][number],
  end: TaskChange | undefined,
): boolean {
  const isOfEnd = end !== undefined && begunAt >= end.committedAt - CLOCK_MS;
  return isOfEnd && status !== null && status < 300 && whole !== "no";
}
