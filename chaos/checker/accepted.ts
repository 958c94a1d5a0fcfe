import type { Answer, History } from "./history.ts";
import { isFleeting } from "./retention.ts";
import type { Stories, Story } from "./stories.ts";
import type { Violation } from "./violation.ts";

/** Promise A: what was answered 201 is there, or was deleted by somebody who may have asked for it. */
export function checkAccepted(history: History, stories: Stories): Violation[] {
  return [
    ...stories.all.flatMap((story) => checkStory(story, history, stories)),
    ...checkRest(history, stories),
    ...checkKeys(stories),
  ];
}

function checkStory(story: Story, history: History, stories: Stories): Violation[] {
  const accepted = story.answers.find(
    ({ action, status }) => action === "create" && (status === 201 || status === 200),
  );
  const violation = (text: string, at: number | null): Violation[] => [
    { promise: "A", text, taskId: story.id, at },
  ];
  if (accepted !== undefined && story.last === null)
    return violation(`answered ${accepted.status}, and the database never had it`, accepted.endedAt);
  const deletion = story.changes.at(-1);
  const isRetained = deletion === undefined || !isFleeting(deletion, stories);
  if (story.isDeleted && isRetained && !wasAskedFor(story, history, stories))
    return violation("vanished: no client deleted it or its queue", deletion?.committedAt ?? null);
  const deleted = story.answers.find(({ action, status }) => action === "delete-task" && status === 200);
  if (deleted !== undefined && !story.isDeleted)
    return violation("DELETE was answered 200, and it is still there", deleted.endedAt);
  const cancelled = story.answers.find(({ action, status }) => action === "cancel" && status === 200);
  if (cancelled !== undefined && story.last?.status !== "cancelled")
    return violation("its cancel was answered 200, and it is not cancelled", cancelled.endedAt);
  const mayBeCancelled = story.answers.some((one) => one.action === "cancel" && mayHaveCounted(one));
  if (story.last?.status === "cancelled" && !mayBeCancelled)
    return violation(
      "it is cancelled, and no client asked for that",
      story.changes.at(-1)?.committedAt ?? null,
    );
  const calledBack = story.answers.find(({ action, status }) => action === "callback" && status === 200);
  if (calledBack !== undefined && story.last?.status !== "completed")
    return violation("its callback was answered 200, and it did not complete", calledBack.endedAt);
  return [];
}

/** A request without an answer may have been carried out. */
function mayHaveCounted({ status }: Answer): boolean {
  return status === null || status === 200 || status >= 500;
}

function wasAskedFor(story: Story, history: History, stories: Stories): boolean {
  if (story.answers.some((answer) => answer.action === "delete-task" && mayHaveCounted(answer))) return true;
  const states = story.last === null ? [] : stories.queueStates(story.last.queueId);
  const name = states[0]?.queue.name;
  const isQueueGone = states.some(({ queue }) => queue.deleted);
  return (
    isQueueGone &&
    history.answers.some(
      (answer) => answer.action === "delete-queue" && answer.queue === name && mayHaveCounted(answer),
    )
  );
}

/** What the log of changes says must be what the table holds: a crash may not take one without the other. */
function checkRest({ rest }: History, stories: Stories): Violation[] {
  const there = new Set(rest.tasks.map(({ id }) => id));
  return stories.all
    .filter(({ id, last, isDeleted }) => last !== null && !isDeleted && !there.has(id))
    .map(({ id }) => ({ promise: "A", text: "is not in the table at rest", taskId: id, at: rest.at }));
}

/** One key, one task: another may follow only once the first was deleted. */
function checkKeys(stories: Stories): Violation[] {
  const byKey = new Map<string, { id: string; insertedAt: number; deletedAt: number }[]>();
  for (const { id, changes, last, isDeleted } of stories.all) {
    const key = last?.idempotencyKey;
    const insertedAt = changes[0]?.committedAt;
    if (key === null || key === undefined || insertedAt === undefined) continue;
    const deletedAt = isDeleted ? (changes.at(-1)?.committedAt ?? 0) : Number.POSITIVE_INFINITY;
    byKey.set(key, [...(byKey.get(key) ?? []), { id, insertedAt, deletedAt }]);
  }
  return [...byKey].flatMap(([key, tasks]) => {
    const inOrder = tasks.sort((one, other) => one.insertedAt - other.insertedAt);
    return inOrder.slice(1).flatMap(({ id, insertedAt }, index): Violation[] => {
      const before = inOrder[index];
      if (before === undefined || before.deletedAt <= insertedAt) return [];
      const text = `idempotency key ${key} made this task although it stands for ${before.id}`;
      return [{ promise: "A", text, taskId: id, at: insertedAt }];
    });
  });
}
