import { type History, isEnd, type TaskChange } from "./history.ts";
import { waitsItsTurn } from "./rest.ts";
import type { Stories, Story } from "./stories.ts";
import type { Violation } from "./violation.ts";

const CLOCK_MS = 5;

/** Who asked to be told is told how the task ended, after it has, and nobody else is told anything. */
export function checkNotifications({ rest }: History, stories: Stories): Violation[] {
  const later = new Set(
    rest.notifications.filter((each) => waitsItsTurn(each, rest.at)).map(({ taskId }) => taskId),
  );
  return stories.all.flatMap((story) => {
    const end = story.changes.find(({ op, row }) => op !== "delete" && isEnd(row.status));
    const complaint = (text: string, at: number | null): Violation => ({
      promise: "told",
      text,
      taskId: story.id,
      at,
    });
    const wrong = story.notifications.flatMap((notification) => {
      const text = wrongTelling(notification, end, story);
      return text === null ? [] : [complaint(text, notification.begunAt)];
    });
    const wasTold = story.notifications.some(isDelivered) || later.has(story.id);
    const isOwed = end?.row.hasNotification === true && !wasTold;
    return isOwed ? [...wrong, complaint("it ended, and its caller was never told", end.committedAt)] : wrong;
  });
}

function wrongTelling(
  { begunAt, says }: Story["notifications"][number],
  end: TaskChange | undefined,
  story: Story,
): string | null {
  if (end === undefined) return "its caller was told of an end that never came";
  if (!end.row.hasNotification) return "someone was told who did not ask";
  if (begunAt < end.committedAt - CLOCK_MS) return "its caller was told before it had ended";
  const expected = `task.${story.last?.status}`;
  return says === expected ? null : `its caller was told ${says}, and it is ${expected}`;
}

function isDelivered({ status, whole }: Story["notifications"][number]): boolean {
  return status !== null && status < 300 && whole !== "no";
}
