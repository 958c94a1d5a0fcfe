import { isOpenAt } from "./calls.ts";
import type { Seen } from "./history.ts";
import type { Stories } from "./stories.ts";
import type { Violation } from "./violation.ts";

/** A change of the limit and a claim may commit in either order within this time. */
const COMMIT_MS = 50;

/**
 * Promise E, counted from what targets saw. A lowered limit lets run what runs, so only the moment in which a call begins
 * is looked at: with it there may be no more than the highest limit that held since its claim.
 */
export function checkConcurrency(stories: Stories): Violation[] {
  const byQueue = new Map<number, Seen[]>();
  for (const call of stories.all.flatMap(({ calls }) => calls)) {
    const queueId = stories.claimOf(call)?.queueId;
    if (queueId === undefined) continue;
    byQueue.set(queueId, [...(byQueue.get(queueId) ?? []), call]);
  }
  return [...byQueue].flatMap(([queueId, calls]) => checkQueue(queueId, calls, stories));
}

function checkQueue(queueId: number, calls: Seen[], stories: Stories): Violation[] {
  const violations: Violation[] = [];
  let open: Seen[] = [];
  for (const call of calls.sort((one, other) => one.begunAt - other.begunAt)) {
    open = open.filter(({ endedAt }) => endedAt === null || endedAt > call.begunAt);
    open.push(call);
    const inFlight = open.filter((other) => other === call || isOpenAt(other, call.begunAt, stories));
    const since = (stories.claimOf(call)?.committedAt ?? call.begunAt) - COMMIT_MS;
    const limit = highestLimit(queueId, since, call.begunAt, stories);
    if (inFlight.length <= limit) continue;
    const others = inFlight.filter((other) => other !== call).map(({ taskId }) => taskId);
    const text = `${inFlight.length} calls in flight in a queue of ${limit}: with it ${others.join(", ")}`;
    violations.push({ promise: "E", text, taskId: call.taskId, at: call.begunAt });
  }
  return violations;
}

function highestLimit(queueId: number, from: number, to: number, stories: Stories): number {
  const states = stories.queueStates(queueId);
  const during = states.filter(
    (state, index) =>
      state.from <= to + COMMIT_MS && (states[index + 1]?.from ?? Number.POSITIVE_INFINITY) >= from,
  );
  return Math.max(0, ...during.map(({ queue }) => queue.concurrency));
}
