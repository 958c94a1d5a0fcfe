import { type Circumstances, gatesOf, type LineHolder } from "./circumstances.ts";
import { type Held, type HeldReason, whyHeld } from "./gate/decision.ts";
import type { Gate, InLine } from "./gate/gate.ts";
import { isEnded, type Task } from "./task.ts";
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
  const held = whyHeld(gatesOf(task), task, task.now);
  const at = (kind: Gate["kind"], ...codes: HeldReason[]) =>
    held
      .filter(({ gate, reason }) => gate.kind === kind && codes.includes(reason))
      .map((each) => whyAt(each, task));
  const atFlow = () => [
    ...at("flow", "flow_paused", "flow_full", "flow_rate", "blocked_by"),
    ...whyBehindInFlow(held, task),
  ];
  const isDue = task.runAt <= task.now;
  if (task.sandbox && !task.isSimulated) add("sandbox", "It was created by a test key, and is never called");
  if (!isDue) reasons.push(whyNotDue(task));
  if (task.isSimulated) return isDue ? [...reasons, ...atFlow()] : reasons;
  reasons.push(...at("queue", "queue_paused"));
  if (!task.hasWorkers) add("no_worker", "No node is running that makes calls");
  if (task.sandbox || !isDue) return reasons;
  reasons.push(...at("host", "breaker_open"), ...atFlow(), ...at("queue", "queue_full", "queue_rate"));
  if (isCrowded)
    add("team_share", "The node that was asked makes as many calls of the team as it may for now");
  return [...reasons, ...at("queue", "blocked_by"), ...whyBehind(held, task)];
}

/** A task that a breaker holds back waits in no line. */
function whyBehind(held: readonly Held[], task: Circumstances): Reason[] {
  const line = lineOf(held, "queue");
  if (held.some(({ gate }) => gate.kind === "host") || (task.ordered && line === undefined)) return [];
  return behind((task.ahead ?? 0) + underWay(line), "due tasks of its queue");
}

function whyBehindInFlow(held: readonly Held[], { flowState }: Circumstances): Reason[] {
  const line = lineOf(held, "flow");
  if (flowState === null || line === undefined) return [];
  return behind((flowState.ahead ?? MOST_COUNTED) + underWay(line), `tasks of its flow "${flowState.key}"`);
}

function behind(count: number, others: string): Reason[] {
  const many = count >= MOST_COUNTED ? `${MOST_COUNTED} or more` : count;
  return count === 0 ? [] : [{ code: "behind", detail: `${many} ${others} go first`, until: null }];
}

/** The line of the queue or flow holds the task back. */
export function lineOf(held: readonly Held[], kind: Gate["kind"]): Held | undefined {
  return held.find(
    ({ gate, reason }) => gate.kind === kind && (reason === "blocked_by" || reason === "behind"),
  );
}

/** The task whose call is under way is not among those that wait. */
function underWay(line: Held | undefined): number {
  return line?.by?.status === "active" ? 1 : 0;
}

function whyAt({ gate, reason: code, until, by }: Held, task: Circumstances): Reason {
  const { kind, name, limits, places, permits } = gate;
  switch (code) {
    case "queue_paused":
      return { code, detail: `Queue "${name}" is paused`, until };
    case "flow_paused":
      return { code, detail: `Flow "${name}" is paused${until ? ": its target asked to wait" : ""}`, until };
    case "queue_full":
    case "flow_full": {
      const full = `${places.taken} of ${limits.concurrency} calls of ${kind} "${name}" are under way`;
      return { code, detail: kind === "queue" ? `${full}: ${whoCalls(task)}` : full, until };
    }
    case "queue_rate":
    case "flow_rate": {
      const began = `${permits.taken} calls of ${kind} "${name}" began in the last ${limits.period ?? 1} s`;
      return { code, detail: `${began}, and ${limits.rate} may`, until };
    }
    case "breaker_open":
      return { code, detail: whyHeldBack(gate, task), until };
    default:
      return blockedBy(holdersOf(task, kind), by);
  }
}

function whoCalls({ holders }: Circumstances): string {
  return (holders ?? []).map(({ node, calls }) => `${node} ${calls}`).join(", ");
}

function whyHeldBack({ name, places }: Gate, { queue, breaker }: Circumstances): string {
  const whose = `The circuit breaker of queue "${queue}" for ${name}`;
  if (breaker?.phase !== "open") return `${whose} closes: the tasks that waited follow a few at a time`;
  if (places.nextAt !== null) return `${whose} is open: calls to it failed, so its tasks wait`;
  return `${whose} is open, and one task is tried`;
}

function holdersOf({ flowState, lineHolders, lineHead }: Circumstances, kind: Gate["kind"]): LineHolder[] {
  if (kind === "flow") return [...(flowState?.holders ?? [])];
  return [...(lineHolders ?? []), ...(lineHead === null ? [] : [lineHead])];
}

/** What the first one of the line waits for. While its call is under way, the others are simply behind it. */
function blockedBy(holders: readonly LineHolder[], by: InLine | null): Reason {
  const holder = holders.find(({ id }) => id === by?.id);
  if (holder === undefined) throw new Error("A task that is not in the line blocks it");
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
