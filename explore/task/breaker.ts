import type { Base } from "../engine/protocol.ts";

/*
 * The circuit breaker of one host with its tasks, and the transactions that change it, which lock the row of the queue: each is one step.
 * store/tasks/breaker-counts.ts, breaker-passes.ts, held-hosts.ts and domain/breaker.ts.
 */

/** Of the row in `breaker_tasks`. */
export interface Place {
  /** The epoch of the breaker in which it got a pass; null: it waits for one. */
  readonly pass: number | null;
  readonly fence: number;
  /** A round has found it dead and not removed it yet, which only a bug leads to. */
  readonly isFound: boolean;
}

export interface Task {
  readonly status: "pending" | "active" | "ended";
  readonly fence: number;
  /** It is in the index that claims read. */
  readonly isDue: boolean;
  readonly place: Place | null;
}

export interface Attempt {
  readonly task: number;
  readonly fence: number;
  /** Of the breaker at the claim. */
  readonly epoch: number;
  /** It began with a pass: while the breaker is open, it is the probe. */
  readonly hasPass: boolean;
  readonly at: "calling" | "answered" | "settled";
  readonly isUp: boolean;
  /** It is counted with its settlement. A success while the node knows of no breaker is not, and changes none. */
  readonly isUrgent: boolean;
}

export interface Node {
  readonly is: "up" | "frozen" | "down";
  /** What it last read of the queue: its host is held. */
  readonly seesHeld: boolean;
  readonly attempt: Attempt | null;
}

export interface State extends Base {
  readonly isTargetUp: boolean;
  readonly phase: "none" | "open" | "closing" | "draining";
  /** Rises whenever the breaker opens, as its `until` does. */
  readonly epoch: number;
  /** Until its `until`. */
  readonly isCooling: boolean;
  readonly allowed: number;
  readonly failed: number;
  readonly tasks: readonly Task[];
  readonly nodes: readonly Node[];
}

/** Bugs that somebody could have written here. */
export type BreakerBug =
  | "counted-after-settlement"
  | "old-pass-begins"
  | "old-pass-judges"
  | "pass-without-fence"
  | "live-passes-not-counted"
  | "dead-pass-kept"
  | "dead-pass-by-key"
  | "held-without-place"
  | "old-view";

const FAILURES = 2;
const CONCURRENCY = 3;
export const TASK: Task = { status: "pending", fence: 0, isDue: true, place: null };
export const NODE: Node = { is: "up", seesHeld: false, attempt: null };
export const CLOSED = { phase: "none", isCooling: false, allowed: 1, failed: 0 } as const;

export const taskOf = (state: Pick<State, "tasks">, at: number): Task => state.tasks[at] ?? TASK;
export const nodeOf = (state: State, at: number): Node => state.nodes[at] ?? NODE;

export function withTask(state: State, at: number, changes: Partial<Task>): State {
  return {
    ...state,
    tasks: state.tasks.map((task, index) => (index === at ? { ...task, ...changes } : task)),
  };
}

export function withNode(state: State, at: number, changes: Partial<Node>): State {
  return {
    ...state,
    nodes: state.nodes.map((node, index) => (index === at ? { ...node, ...changes } : node)),
  };
}

export const isHeld = ({ phase }: State) => phase === "open" || phase === "closing";
export const hasPass = ({ place }: Task) => place !== null && place.pass !== null;
const isLive = ({ status, fence, place }: Task) =>
  place !== null &&
  place.pass !== null &&
  status !== "ended" &&
  place.fence === (status === "active" ? fence - 1 : fence);

/** MAY_BEGIN, for a task of the host that is held. */
export function mayBegin({ epoch }: State, { fence, place }: Task, bug: BreakerBug | null): boolean {
  if (place === null || place.pass === null) return false;
  if (place.fence !== fence && bug !== "pass-without-fence") return false;
  return place.pass === epoch || bug === "old-pass-begins";
}

/** `holdTasks`: takes the due tasks out that may not begin. */
export function hold(state: State, bug: BreakerBug | null): State | null {
  const isOut = (task: Task) => task.status === "pending" && task.isDue && !mayBegin(state, task, bug);
  if (!isHeld(state) || !state.tasks.some(isOut)) return null;
  const out = (task: Task): Task => {
    const place = { pass: null, fence: task.fence, isFound: task.place?.isFound ?? false };
    return { ...task, isDue: false, place: bug === "held-without-place" ? task.place : place };
  };
  return { ...state, tasks: state.tasks.map((task) => (isOut(task) ? out(task) : task)) };
}

/** `countAttempts` of one attempt: counts it, ends its pass, and judges by both. */
export function count(before: State, attempt: Attempt, bug: BreakerBug | null): State {
  const { place } = taskOf(before, attempt.task);
  const isEnded = place !== null && place.pass !== null && place.fence === attempt.fence - 1;
  const state = isEnded ? withTask(before, attempt.task, { place: null }) : before;
  const { phase, epoch, allowed } = state;
  const isProbe = attempt.hasPass && attempt.epoch === epoch;
  const hasPassed = isEnded && (place.pass === epoch || bug === "old-pass-judges");
  if (phase === "open") {
    if (hasPassed !== isProbe)
      return {
        ...state,
        wrong: isProbe ? "The result of a probe is lost." : "An old call is taken for the probe.",
      };
    if (!isProbe) return state;
    return attempt.isUp ? ramp(state, 2) : open(state);
  }
  const isNew = phase === "none" || attempt.epoch === epoch;
  const failed = state.failed + (isNew && !attempt.isUp ? 1 : 0);
  if (failed >= FAILURES) return open(state);
  return phase === "closing" && hasPassed && attempt.isUp ? ramp(state, allowed + 1) : { ...state, failed };
}

function open(state: State): State {
  return { ...state, phase: "open", epoch: state.epoch + 1, isCooling: true, allowed: 1, failed: 0 };
}

function ramp(state: State, allowed: number): State {
  return { ...state, phase: allowed >= CONCURRENCY ? "draining" : "closing", allowed, failed: 0 };
}

/** `passTasks`: ends the passes that came to nothing, and gives as many as may be. */
export function givePasses(state: State, bug: BreakerBug | null): State | null {
  const { phase, isCooling, epoch, allowed, tasks: before } = state;
  if (phase === "none" || isCooling) return null;
  const isFree = phase === "draining";
  const live = before.filter(
    (task) => task.place?.pass === epoch && (isLive(task) || (hasPass(task) && bug === "dead-pass-kept")),
  ).length;
  let left = isFree ? before.length : Math.max(0, allowed - (bug === "live-passes-not-counted" ? 0 : live));
  const tasks = before.map((task): Task => {
    const { place, status, isDue, fence } = task;
    if (place === null) return task;
    if (place.pass !== null) {
      if ((isLive(task) && !isFree) || bug === "dead-pass-kept") return task;
      return { ...task, place: bug === "dead-pass-by-key" ? { ...place, isFound: true } : null };
    }
    if (left === 0) return task;
    left -= 1;
    if (status !== "pending" || isDue) return { ...task, place: null };
    return { ...task, isDue: true, place: isFree ? null : { pass: epoch, fence, isFound: false } };
  });
  const isIdle = phase !== "open" && live === 0 && before.every(({ place }) => place === null);
  return isIdle ? { ...state, ...CLOSED } : { ...state, tasks };
}
