import type { History, Reader } from "./history.ts";
import type { TaskChange, TaskStatus } from "./rows.ts";
import type { Stories, Story } from "./stories.ts";
import type { Violation } from "./violation.ts";

/**
 * Every change of a task is told once, and in the order in which the changes were committed. Of a task that was there before a reader
 * listened, the last of them.
 */
export function checkEvents(history: History, stories: Stories): Violation[] {
  const unjudged = unjudgedReaders(history);
  return history.readers.flatMap((reader) => [
    ...checkIds(reader),
    ...checkStories(reader, !unjudged.includes(reader), stories),
  ]);
}

/** Those that had no time to be told of everything, because other work took the machine: what they lack is not judged. */
export function unjudgedReaders({ readers, crowded, calmAt }: History): readonly Reader[] {
  return crowded.some(({ to }) => to >= calmAt) ? readers.filter(({ isBehind }) => isBehind) : [];
}

function checkStories({ teamId, readyAt, told }: Reader, isComplete: boolean, stories: Stories): Violation[] {
  const byTask = new Map<string, string[]>();
  for (const { taskId, type } of told) {
    if (taskId === null) continue;
    const known = byTask.get(taskId);
    if (known === undefined) byTask.set(taskId, [type]);
    else known.push(type);
  }
  const unknown = [...byTask.keys()].map(stories.find).filter(({ changes }) => changes.length === 0);
  return [...stories.all.filter(({ changes }) => changes.length > 0), ...unknown].flatMap(
    (story): Violation[] => {
      const reported = byTask.get(story.id) ?? [];
      const isOwn = story.changes[0] === undefined || story.changes[0].row.teamId === teamId;
      if (!isOwn && reported.length === 0) return [];
      const text = isOwn
        ? complaint(reported, readyAt, isComplete, story)
        : "a reader of another team was told of it";
      const at = story.changes.at(-1)?.committedAt ?? null;
      return text === null ? [] : [{ promise: "events", text, taskId: story.id, at }];
    },
  );
}

/** The streams of a run are young and resumed at once: none has to be reset. */
function checkIds({ told }: Reader): Violation[] {
  const seen = new Set<string>();
  return told.flatMap(({ id, type, taskId, state, at }): Violation[] => {
    const isRepeated = seen.has(id);
    seen.add(id);
    const wrong = wrongState(type, state);
    if (wrong !== null) return [{ promise: "events", text: wrong, taskId, at }];
    if (type === "reset") return [{ promise: "events", text: "a reader was told of a reset", taskId, at }];
    return isRepeated ? [{ promise: "events", text: `event ${id} was told twice`, taskId, at }] : [];
  });
}

function complaint(
  reported: readonly string[],
  readyAt: number | null,
  isComplete: boolean,
  { changes }: Story,
): string | null {
  const [first] = changes;
  const happened = changes.flatMap((change, index) => eventsOf(changes[index - 1], change));
  const isWhole = first !== undefined && readyAt !== null && first.committedAt > readyAt;
  const [all, part] = [happened, reported].map((types) => ["", ...types, ""].join());
  if (isPart(part ?? "", all ?? "", isWhole, isComplete)) return null;
  return `told: ${reported.join(", ") || "nothing"}; what happened: ${happened.join(", ") || "nothing"}`;
}

/** Whether it has the beginning and the end where it must have them. */
function isPart(part: string, all: string, isWhole: boolean, isComplete: boolean): boolean {
  if (isWhole && isComplete) return part === all;
  if (isWhole) return all.startsWith(part);
  return isComplete ? all.endsWith(part) : all.includes(part);
}

/** The status of a task right after each event. */
const STATES: Readonly<Record<string, TaskStatus>> = {
  "task.created": "pending",
  "task.started": "active",
  "task.attempt_failed": "pending",
  "task.waiting": "waiting",
  "task.polling": "polling",
  "task.completed": "completed",
  "task.failed": "failed",
  "task.cancelled": "cancelled",
};

/** An event shows its task as it was then, however late it is told. */
export function wrongState(type: string, state: string | undefined): string | null {
  const expected = STATES[type];
  if (state === undefined || expected === undefined || state === expected) return null;
  return `an event ${type} says that its task was ${state}`;
}

/** What a change is told as. */
export function eventsOf(before: TaskChange | undefined, { op, row }: TaskChange): string[] {
  if (op === "delete") return [];
  if (op === "insert") return row.status === "active" ? ["task.created", "task.started"] : ["task.created"];
  if (row.dedupe?.request !== before?.row.dedupe?.request) return ["task.replaced"];
  if (row.status === before?.row.status) return [];
  if (row.status === "active") return ["task.started"];
  if (row.status !== "pending") return [`task.${row.status}`];
  // A retry by hand is no event.
  return before?.row.status === "active" ? ["task.attempt_failed"] : [];
}
