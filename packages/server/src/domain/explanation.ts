import type { BreakerPhase } from "./breaker.ts";
import { isEnded, type PollsSeen, type Task } from "./task.ts";
import { publicTaskId } from "./task-id.ts";

/** Why a task does not run now. */
export const REASON_CODES = [
  "delayed",
  "backing_off",
  "queue_paused",
  "queue_full",
  "queue_rate",
  "team_share",
  "breaker_open",
  "flow_full",
  "flow_rate",
  "flow_paused",
  "behind",
  "blocked_by",
  "no_worker",
  "call_under_way",
  "awaiting_callback",
  "polling",
  "sandbox",
] as const;

/** Tasks that go first are counted up to this number. */
const MOST_COUNTED = 1000;

export interface Reason {
  readonly code: (typeof REASON_CODES)[number];
  /** One sentence for people. */
  readonly detail: string;
  /** When it ends at the latest; null if unknown. */
  readonly until: Date | null;
  /** The task that holds the line. */
  readonly blockedBy?: TaskName;
}

type TaskName = Pick<Task, "id" | "shape">;

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
  /** For a pending task with a flow: the state of the flow. */
  readonly flowState: FlowCircumstances | null;
  /** For a pending task of a queue with a rate: what the rate lets begin. */
  readonly rateState: RateCircumstances | null;
  /** For a pending task whose host is held back: the breaker. */
  readonly breaker: {
    readonly host: string;
    readonly phase: BreakerPhase;
    readonly until: Date | string;
  } | null;
  /** For a pending task: the number of due tasks of its queue that go first. */
  readonly ahead: number | null;
  /** For a pending task: the starts of its queue in the last full minutes that had any, three at most. */
  readonly recent: { readonly starts: number; readonly minutes: number } | null;
  /** For a pending task of an ordered queue: another task that holds the line; null if none does. */
  readonly lineHolder: LineHolder | null;
}

interface LineHolder extends TaskName, Pick<Task, "status"> {
  readonly runAtMs: number;
  /** It has not begun, and waits for this flow. */
  readonly flow?: string;
}

/** What a rate lets begin at one instant. */
export interface RateCircumstances {
  readonly rate: number;
  readonly period: number;
  readonly begun: number;
  /** When the next call may begin by the rate. */
  readonly nextAt: Date | string | null;
}

/** What a flow lets begin at one instant. */
export interface FlowCircumstances {
  readonly key: string;
  readonly ordered: boolean;
  /** Of an ordered flow: another task that holds the line; null if none does. */
  readonly lineHolder: LineHolder | null;
  /** Null: no limit but the order. */
  readonly concurrency: number | null;
  readonly active: number;
  readonly rate: number | null;
  readonly period: number | null;
  readonly begun: number;
  /** Due tasks of the flow that go first; null if too many are due to count them. */
  readonly ahead: number | null;
  /** When the next call may begin by the rate. */
  readonly nextAt: Date | string | null;
  readonly paused: boolean;
  readonly pausedUntil: Date | string | null;
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
  return {
    task: { id, shape, status },
    runnable: status === "pending" && reasons.length === 0,
    reasons,
  };
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
  if (task.isSimulated) {
    if (isDue && task.flowState !== null) reasons.push(...whyHeld(task.flowState, task.now));
    return reasons;
  }
  if (task.paused) add("queue_paused", `Queue "${task.queue}" is paused`);
  if (!task.hasWorkers) add("no_worker", "No node is running that makes calls");
  if (task.sandbox || !isDue) return reasons;
  if (task.breaker !== null) reasons.push(whyHeldBack(task.breaker, task));
  if (task.flowState !== null) reasons.push(...whyHeld(task.flowState, task.now));
  const holders = task.holders ?? [];
  const calls = holders.reduce((sum, holder) => sum + holder.calls, 0);
  if (calls >= task.concurrency) {
    const who = holders.map((holder) => `${holder.node} ${holder.calls}`).join(", ");
    add("queue_full", `${calls} of ${task.concurrency} calls of queue "${task.queue}" are under way: ${who}`);
  }
  if (task.rateState !== null && task.rateState.begun >= task.rateState.rate) {
    const { begun, rate, period, nextAt } = task.rateState;
    const detail = `${begun} calls of queue "${task.queue}" began in the last ${period} s, and ${rate} may`;
    add("queue_rate", detail, nextAt === null ? null : new Date(nextAt));
  }
  if (isCrowded)
    add("team_share", "The node that was asked makes as many calls of the team as it may for now");
  const { lineHolder } = task;
  if (lineHolder !== null && lineHolder.status !== "active") reasons.push(blockedBy(lineHolder));
  const ahead = (task.ahead ?? 0) + (lineHolder?.status === "active" ? 1 : 0);
  // Who is held back by a breaker waits in no line.
  if (ahead > 0 && task.breaker === null)
    add(
      "behind",
      `${ahead >= MOST_COUNTED ? `${MOST_COUNTED} or more` : ahead} due tasks of its queue go first`,
    );
  return reasons;
}

function whyHeldBack(
  { host, phase, until }: NonNullable<Circumstances["breaker"]>,
  { queue, now }: Circumstances,
): Reason {
  const code = "breaker_open";
  const opensAt = new Date(until);
  const whose = `The circuit breaker of queue "${queue}" for ${host}`;
  if (phase !== "open")
    return { code, detail: `${whose} closes: the tasks that waited follow a few at a time`, until: null };
  if (opensAt > now)
    return { code, detail: `${whose} is open: calls to it failed, so its tasks wait`, until: opensAt };
  return { code, detail: `${whose} is open, and one task is tried`, until: null };
}

/** Times in JSON are texts. */
function whyHeld(flow: FlowCircumstances, now: Date): Reason[] {
  const { key, concurrency, active, rate, period, begun } = flow;
  const reasons: Reason[] = [];
  const pausedUntil = flow.pausedUntil === null ? null : new Date(flow.pausedUntil);
  if (flow.paused) reasons.push({ code: "flow_paused", detail: `Flow "${key}" is paused`, until: null });
  else if (pausedUntil !== null && pausedUntil > now)
    reasons.push({
      code: "flow_paused",
      detail: `Flow "${key}" is paused: its target asked to wait`,
      until: pausedUntil,
    });
  if (concurrency !== null && active >= concurrency)
    reasons.push({
      code: "flow_full",
      detail: `${active} of ${concurrency} calls of flow "${key}" are under way`,
      until: null,
    });
  if (rate !== null && begun >= rate)
    reasons.push({
      code: "flow_rate",
      detail: `${begun} calls of flow "${key}" began in the last ${period ?? 1} s, and ${rate} may`,
      until: flow.nextAt === null ? null : new Date(flow.nextAt),
    });
  if (flow.ordered) reasons.push(...whyInLine(flow));
  return reasons;
}

function whyInLine({ key, lineHolder, ahead }: FlowCircumstances): Reason[] {
  const reasons: Reason[] = [];
  if (lineHolder !== null && lineHolder.status !== "active") reasons.push(blockedBy(lineHolder));
  const before = (ahead ?? MOST_COUNTED) + (lineHolder?.status === "active" ? 1 : 0);
  const many = before >= MOST_COUNTED ? `${MOST_COUNTED} or more` : before;
  if (before > 0)
    reasons.push({ code: "behind", detail: `${many} tasks of its flow "${key}" go first`, until: null });
  return reasons;
}

/** What the first one of the line waits for. While its call is under way, the others are simply behind it. */
function blockedBy(holder: LineHolder): Reason {
  const { id, shape } = holder;
  const detail = `Task ${publicTaskId(holder)} ${howItHolds(holder)}`;
  return { code: "blocked_by", detail, until: null, blockedBy: { id, shape } };
}

function howItHolds({ status, runAtMs, flow }: LineHolder): string {
  const holds = "holds the line until it has ended";
  if (status === "failed") return "failed and blocks the line: retry it, or dismiss it";
  if (status === "waiting") return `${holds}: it waits for its callback`;
  if (status === "polling") return `${holds}: its third party is being polled`;
  if (flow !== undefined) return `${holds}: it waits for its flow "${flow}"`;
  return `${holds}: its next attempt is due at ${new Date(runAtMs).toISOString()}`;
}
