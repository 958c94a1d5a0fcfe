import type { Fault, History } from "./history.ts";
import { type FiringChange, isEnd, type ScheduleChange } from "./rows.ts";
import type { Stories } from "./stories.ts";
import type { Violation } from "./violation.ts";

/** Every schedule of the clients fires every second. */
const PERIOD_MS = 1_000;
/** A firing is not later than this, apart from the time in which a fault is under way. */
const LATE_MS = 15_000;

/** A firing may commit so much later than it looked at the tasks before it. */
const LOOK_MS = 3_000;

/** Each time of a schedule that was not missed made one task, times that were missed made one together, and no other firing did. */
export function checkSchedules(history: History, stories: Stories): Violation[] {
  const firings = new Map<string, FiringChange[]>();
  const lives = new Map<string, ScheduleChange[]>();
  for (const change of history.changes) {
    if (change.relation === "schedule_firings") add(firings, change.row.scheduleId, change);
    else if (change.relation === "schedules") add(lives, change.row.id, change);
  }
  return [...lives].flatMap(([id, changes]) => {
    const fired = firings.get(id) ?? [];
    return [
      ...wrongSteps(changes, fired, history, stories),
      ...unfounded(changes, fired),
      ...fired.filter(({ row }) => stories.find(row.taskId).changes.length === 0).map(withoutTask),
    ];
  });
}

/** Where its next time moves on from one to another, the first has been fired, and none between them was still to come. */
function wrongSteps(
  changes: readonly ScheduleChange[],
  fired: readonly FiringChange[],
  history: History,
  stories: Stories,
): Violation[] {
  return changes.slice(1).flatMap((change, index): Violation[] => {
    const before = changes[index];
    const dueAt = before?.row.nextRunAt ?? null;
    if (before === undefined || dueAt === null) return [];
    const { committedAt: at } = change;
    const next = change.op === "delete" ? null : change.row.nextRunAt;
    if (next === null) {
      const lateMs = timeWithoutFault(Math.max(dueAt, before.committedAt), at, history.faults);
      if (at < history.calmAt || lateMs <= LATE_MS) return [];
      return [
        violation(
          `its last firing was ${Math.round(lateMs)} ms late when it was ended, faults aside`,
          null,
          at,
        ),
      ];
    }
    if (next === dueAt) return [];
    const count = fired.filter(({ row }) => row.firesAt === dueAt).length;
    const under = before.row.skips === true ? underWay(fired, at, history, stories) : "none";
    if (under === "some" && count > 0)
      return [violation(`it fired for ${dueAt} while a task of it had not ended`, null, at)];
    const isRight = under === "none" ? count === 1 : count <= 1;
    if (!isRight) return [violation(`its time ${dueAt} has ${count} tasks`, null, at)];
    if (next <= Math.max(at, dueAt) + PERIOD_MS) return [];
    return [violation(`the times between ${dueAt} and ${next} were left out`, null, at)];
  });
}

/** Whether a task of earlier firings had not ended; in doubt where one ended while the schedule was looked at. */
function underWay(
  fired: readonly FiringChange[],
  at: number,
  { faults }: History,
  stories: Stories,
): "some" | "none" | "doubtful" {
  const earlier = fired.filter(({ committedAt }) => committedAt < at);
  const endAt = Math.max(0, ...earlier.map(({ row }) => endedAt(row.taskId, stories)));
  if (endAt > at) return "some";
  const isClose = endAt > at - LOOK_MS || faults.some(({ from, to }) => from <= at && to >= endAt);
  return isClose ? "doubtful" : "none";
}

function endedAt(taskId: string, stories: Stories): number {
  const end = stories.find(taskId).changes.find(({ op, row }) => op === "delete" || isEnd(row.status));
  return end?.committedAt ?? Number.POSITIVE_INFINITY;
}

function timeWithoutFault(from: number, to: number, faults: readonly Fault[]): number {
  let calmMs = 0;
  let reached = from;
  for (const fault of [...faults].sort((one, other) => one.from - other.from)) {
    calmMs += Math.max(0, Math.min(fault.from, to) - reached);
    reached = Math.max(reached, fault.to);
  }
  return calmMs + Math.max(0, to - reached);
}

/** A firing moves the schedule on in the same commit. */
function unfounded(changes: readonly ScheduleChange[], fired: readonly FiringChange[]): Violation[] {
  return fired
    .filter(({ row, committedAt }) => {
      const index = changes.findIndex((change) => change.committedAt === committedAt);
      const before = changes[index - 1];
      return row.firesAt === null || before?.row.nextRunAt !== row.firesAt;
    })
    .map(({ row, committedAt }) =>
      violation(`a firing for ${row.firesAt} that was not due`, row.taskId, committedAt),
    );
}

function withoutTask({ row, committedAt }: FiringChange): Violation {
  return violation(`the firing for ${row.firesAt} has no task`, row.taskId, committedAt);
}

function violation(text: string, taskId: string | null, at: number): Violation {
  return { promise: "schedules", text, taskId, at };
}

function add<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key) ?? [];
  list.push(value);
  lists.set(key, list);
}
