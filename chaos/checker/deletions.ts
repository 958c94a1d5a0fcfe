import type { Answer, History, Seen } from "./history.ts";
import type { Stories } from "./stories.ts";
import type { Violation } from "./violation.ts";

/** Target and client are events of one runner: what arrived first may be handled second. */
const EVENT_MS = 20;
/** A claim that was decided before the change may commit a moment after it. */
const COMMIT_MS = 250;

/** A cancel that took longer was answered without a word of the node that made the call. */
const ACKNOWLEDGED_MS = 900;
/** What a node may still begin then: nothing from the answer to a claim that is older. */
const CLAIM_MS = 5_000;
/** A call that was cancelled is torn down within this time. */
const TEAR_DOWN_MS = 1_000;

/** Promise F: a deleted or cancelled task is not called, and nothing of a paused or deleted queue is begun. */
export function checkDeletions(history: History, stories: Stories): Violation[] {
  const calls = history.seen.filter(({ kind }) => kind === "call");
  return [
    ...callsAfterDelete(history, stories),
    ...callsAfterCancel(history, stories),
    ...calls.flatMap((call) => begunInStillness(call, history, stories)),
  ];
}

function callsAfterDelete(history: History, stories: Stories): Violation[] {
  return history.answers
    .filter(({ action, status }) => action === "delete-task" && status === 200)
    .flatMap(({ taskId, endedAt }) =>
      stories
        .find(taskId ?? "")
        .calls.filter(({ begunAt }) => begunAt > endedAt + EVENT_MS)
        .map(({ begunAt }): Violation => {
          const text = `called ${(begunAt - endedAt).toFixed(0)} ms after its DELETE was answered 200`;
          return { promise: "F", text, taskId, at: begunAt };
        }),
    );
}

function callsAfterCancel(history: History, stories: Stories): Violation[] {
  return history.answers
    .filter(({ action, status }) => action === "cancel" && status === 200)
    .flatMap(({ taskId, at, endedAt }) => {
      const isAcknowledged = endedAt - at < ACKNOWLEDGED_MS;
      return stories.find(taskId ?? "").calls.flatMap((call): Violation[] => {
        const claimedAt = stories.claimOf(call)?.committedAt ?? 0;
        const latest = isAcknowledged ? endedAt + EVENT_MS : Math.max(endedAt, claimedAt + CLAIM_MS);
        if (call.begunAt > latest) return [still(call, "begun after the cancel of its task was answered")];
        const goneAt = call.endedAt ?? history.endedAt;
        return isAcknowledged && goneAt > endedAt + TEAR_DOWN_MS
          ? [still(call, "under way long after the cancel of its task was answered")]
          : [];
      });
    });
}

function begunInStillness(call: Seen, { answers }: History, stories: Stories): Violation[] {
  const claim = stories.claimOf(call);
  if (claim === null) return [];
  const states = stories.queueStates(claim.queueId);
  const name = states[0]?.queue.name;
  const isOlder = ({ endedAt }: Answer) => endedAt + COMMIT_MS < claim.committedAt;
  const ofQueue = answers.filter(({ queue }) => queue !== null && queue === name);
  const stop = ofQueue.findLast(
    (answer) => answer.action === "pause" && answer.status === 200 && isOlder(answer),
  );
  const isOn =
    stop === undefined ||
    // With any result: a resume without an answer may have committed. A recreated queue is not paused.
    ofQueue.some(
      ({ action, endedAt, at }) =>
        (action === "resume" || action === "create-queue") && endedAt >= stop.at && at <= claim.committedAt,
    ) ||
    // A resume without an answer was handled by a process that was frozen before the pause and went on after it.
    (ofQueue.some(
      ({ action, status, at }) => action === "resume" && status === null && at <= claim.committedAt,
    ) &&
      states.some(({ from, queue }) => !queue.paused && from >= stop.at && from <= claim.committedAt));
  const violations: Violation[] = [];
  if (!isOn) violations.push(still(call, "begun after its queue's pause was answered"));
  const gone = states.find(({ queue }) => queue.deleted);
  if (gone !== undefined && gone.from + COMMIT_MS < claim.committedAt)
    violations.push(still(call, "begun after its queue was deleted"));
  return violations;
}

function still({ taskId, begunAt, attempt }: Seen, what: string): Violation {
  return { promise: "F", text: `attempt ${attempt} was ${what}`, taskId, at: begunAt };
}
