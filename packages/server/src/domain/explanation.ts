import { isEnded, type PollsSeen, type Task } from "./task.ts";

/** Why a task does not run now. */
export const REASON_CODES = [
  "delayed",
  "backing_off",
  "queue_paused",
  "queue_full",
  "team_share",
  "behind",
  "no_worker",
  "call_under_way",
  "awaiting_callback",
  "polling",
  "sandbox",
] as const;

export interface Reason {
  readonly code: (typeof REASON_CODES)[number];
  /** One sentence for people. */
  readonly detail: string;
  /** When it ends at the latest; null if unknown. */
  readonly until: Date | null;
}

/** The data about a task and its environment at one instant. */
export interface Circumstances extends Pick<Task, "id" | "shape" | "status" | "sandbox" | "runAt" | "queue"> {
  readonly now: Date;
  /** For a sandbox task: it is simulated. */
  readonly isSimulated: boolean;
  readonly deadlineAt: Date | null;
  readonly attemptCount: number;
  /** Failed attempts since its creation or last manual retry. */
  readonly failures: number;
  /** The number of manual retries. */
  readonly retries: number;
  /** The target's Retry-After set the current delay. */
  readonly isAskedToWait: boolean;
  readonly attemptStartedAt: Date | null;
  /** For a polling task after its first poll. */
  readonly polls: PollsSeen | null;
  /** The node that makes its call. */
  readonly node: string | null;
  readonly timeoutSeconds: number;
  readonly paused: boolean;
  readonly concurrency: number;
  readonly hasWorkers: boolean;
  /** For a pending task: the nodes that make calls of its queue. */
  readonly holders: readonly { readonly node: string; readonly calls: number }[] | null;
  /** For a pending task: the number of due tasks of its queue that go first. */
  readonly ahead: number | null;
}

export interface Explanation {
  readonly task: Pick<Task, "id" | "shape" | "status">;
  /** No reason blocks it: the next free node starts it. */
  readonly runnable: boolean;
  readonly reasons: readonly Reason[];
}

/** `isCrowded`: the answering node has slots of the queue but no capacity for another call of this team. */
export function explain(circumstances: Circumstances, isCrowded: boolean): Explanation {
  const { id, shape, status } = circumstances;
  const reasons = isEnded(status) ? [] : reasonsOf(circumstances, isCrowded);
  return { task: { id, shape, status }, runnable: status === "pending" && reasons.length === 0, reasons };
}

function reasonsOf(task: Circumstances, isCrowded: boolean): Reason[] {
  const { deadlineAt: until } = task;
  switch (task.status) {
    case "active":
      return [callUnderWay(task)];
    case "waiting":
      return [{ code: "awaiting_callback", detail: "Its call was accepted; a callback will end it", until }];
    case "polling":
      return [{ code: "polling", detail: howPolled(task), until }];
    default:
      return whyPending(task, isCrowded);
  }
}

function howPolled({ runAt, polls }: Circumstances): string {
  const next = `The third party is asked next at ${runAt.toISOString()}`;
  if (polls === null) return next;
  const { at, answer, error } = polls;
  return error === undefined
    ? `${next}; the last poll, at ${at}, was answered ${answer}`
    : `${next}; the last poll, at ${at}, failed: ${error}`;
}

function callUnderWay(task: Circumstances): Reason {
  const { attemptCount, attemptStartedAt, node, timeoutSeconds } = task;
  const since = attemptStartedAt?.toISOString() ?? "just now";
  if (task.isSimulated) {
    const detail = `Attempt ${attemptCount} is simulated since ${since}`;
    return { code: "call_under_way", detail, until: null };
  }
  const until = attemptStartedAt && new Date(attemptStartedAt.getTime() + timeoutSeconds * 1000);
  const detail = `Attempt ${attemptCount} is under way since ${since} on node ${node ?? "that is gone"}`;
  return { code: "call_under_way", detail, until };
}

function whyNotDue(task: Circumstances): Reason {
  const { attemptCount, failures, retries, runAt: until } = task;
  if (failures === 0) {
    const detail = retries > 0 ? "It was retried by hand and is not due yet" : "It is not due yet";
    return { code: "delayed", detail, until };
  }
  const detail = task.isAskedToWait
    ? `The target answered attempt ${attemptCount} with Retry-After, and the next attempt waits for as long`
    : `Attempt ${attemptCount} failed, and the next waits by the retry settings`;
  return { code: "backing_off", detail, until };
}

function whyPending(task: Circumstances, isCrowded: boolean): Reason[] {
  const reasons: Reason[] = [];
  const add = (code: Reason["code"], detail: string, until: Date | null = null) =>
    reasons.push({ code, detail, until });
  const isDue = task.runAt <= task.now;
  if (task.sandbox && !task.isSimulated) add("sandbox", "It was created by a test key, and is never called");
  if (!isDue) reasons.push(whyNotDue(task));
  if (task.isSimulated) return reasons;
  if (task.paused) add("queue_paused", `Queue "${task.queue}" is paused`);
  if (!task.hasWorkers) add("no_worker", "No node is running that makes calls");
  if (task.sandbox || !isDue) return reasons;
  const holders = task.holders ?? [];
  const calls = holders.reduce((sum, holder) => sum + holder.calls, 0);
  if (calls >= task.concurrency) {
    const who = holders.map((holder) => `${holder.node} ${holder.calls}`).join(", ");
    add("queue_full", `${calls} of ${task.concurrency} calls of queue "${task.queue}" are under way: ${who}`);
  }
  if (isCrowded)
    add("team_share", "The node that was asked makes as many calls of the team as it may for now");
  const ahead = task.ahead ?? 0;
  if (ahead > 0) add("behind", `${ahead >= 1000 ? "1000 or more" : ahead} due tasks of its queue go first`);
  return reasons;
}
