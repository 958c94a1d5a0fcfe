import * as lease from "../../explore/task/leases.ts";
import { CREATED, cancelled, type Row, retried, superseded, type Verdict } from "../../explore/task/row.ts";
import * as work from "../../explore/task/worker.ts";
import type { History } from "./history.ts";
import type { TaskRow, WorkerChange } from "./rows.ts";
import type { Stories, Story } from "./stories.ts";
import type { Violation } from "./violation.ts";

/*
 * What the database did to each task, replayed through the models of explore/: each change of a row must be what a step of the model does
 * in the state that the changes before it have led to. What no row shows (answers that were read, leases that ended) is taken to be as
 * it must have been. What the models do not have is taken over as it is: times, queues, flows, polls and deadlines.
 */

type State = work.State;
/** The steps of the model that may have made a change. Null: it cannot happen in this state. */
type Way = (state: State, change: Observed) => State | null;
export type Ways = Readonly<Record<string, Way>>;

interface Observed {
  readonly before: TaskRow | null;
  readonly row: TaskRow;
  /** By the rows of `workers`. */
  readonly isWorkerGone: (workerId: number) => boolean;
}

const START: State = {
  row: CREATED,
  registered: [],
  workers: [],
  strays: [],
  called: 0,
  faults: 0,
  wrong: null,
};

export const WAYS: Ways = {
  claim: claimed,
  completion: (state) => settled(state, "completed"),
  failure: (state) => settled(state, "failed"),
  retry: (state) => settled(state, "retry"),
  "wait for a callback": (state) => settled(state, "waiting"),
  "begin of polls": (state) => settled(state, "polling"),
  "give-back before the call": (state) => givenBack(state, false),
  "give-back after the call": (state) => givenBack(state, true),
  "give-back by the reaper": reaped,
  cancel: (state) => withRow(state, cancelled(state.row)),
  "retry by a client": (state) => withRow(state, retried(state.row)),
  "late answer": (state) => withRow(state, superseded(state.row, lastInterrupted(state.row))),
  callback: ({ row, ...state }) =>
    row.status === "waiting"
      ? { ...state, row: { ...row, status: "completed", fence: row.fence + 1 } }
      : null,
};

/** Against the models, each change of each task. */
export function checkModels(
  { changes }: Pick<History, "changes">,
  stories: Stories,
  ways = WAYS,
): Violation[] {
  const workers = changes.filter((change): change is WorkerChange => change.relation === "workers");
  const removals = new Map(workers.filter(({ op }) => op === "delete").map(({ row, seq }) => [row.id, seq]));
  return stories.all.flatMap((story) => wrongStep(story, removals, ways) ?? []);
}

function wrongStep(story: Story, removals: ReadonlyMap<number, number>, ways: Ways): Violation | null {
  let state = START;
  let before: TaskRow | null = null;
  for (const { op, row, seq, committedAt } of story.changes) {
    if (op === "delete") return null;
    const isWorkerGone = (workerId: number) => (removals.get(workerId) ?? Number.POSITIVE_INFINITY) < seq;
    const next = follow(state, { before, row, isWorkerGone }, ways);
    if (next === null) return violation(story, state.row, row, committedAt);
    state = next;
    before = row;
  }
  return null;
}

function violation({ id }: Story, from: Row, row: TaskRow, at: number): Violation {
  const [was, is] = [from, project(row)].map(describe);
  return { promise: "model", text: `the models allow no step from ${was} to ${is}`, taskId: id, at };
}

function describe({ status, fence, worker, attempt, closed }: Row): string {
  const holder = worker === null ? "" : ` by worker ${worker}`;
  return `${status}${holder}, fence ${fence}, attempt ${attempt} [${closed.join("; ")}]`;
}

function follow(state: State, change: Observed, ways: Ways): State | null {
  const to = project(change.row);
  if (isSame(asFarAsKnown(state.row, change), to)) return state;
  if (isBeyond(state.row, to)) return { ...state, row: to };
  for (const way of Object.values(ways)) {
    const next = way(state, change);
    if (next !== null && next.wrong === null && isSame(asFarAsKnown(next.row, change), to))
      return { ...next, row: { ...next.row, status: to.status } };
  }
  return null;
}

/** What a deleted queue gets back fails. */
function asFarAsKnown(row: Row, { row: { interruptions, failureReason } }: Observed): Row {
  const isOfDeleted = row.status === "pending" && failureReason === "queue_deleted";
  return {
    ...row,
    status: isOfDeleted ? "failed" : row.status,
    interruptions: interruptions === undefined ? 0 : row.interruptions,
  };
}

const HOW: Readonly<Record<string, string>> = { timeout: "failed", blocked: "failed" };

/** The row as the models have it. They know how far a call got only where it was given back. */
function project(row: TaskRow): Row {
  const { status, fence, attemptCount, interruptions = 0, retries } = row;
  const closed = row.attempts.map(({ number, status: how, phase }) => {
    const reached =
      how === "interrupted" ? phase.replace("_", " ") : how === "aborted" ? "sent" : "responded";
    return `${number} ${HOW[how] ?? how}, ${reached}`;
  });
  const worker = status === "active" ? row.workerId : null;
  return { status, fence, worker, attempt: attemptCount, closed, interruptions, retries };
}

function isSame(one: Row, other: Row): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

const BEYOND = ["pending failed", "waiting failed", "polling polling", "polling completed", "polling failed"];

/** A deadline, or a poll. */
function isBeyond(from: Row, to: Row): boolean {
  const { status, fence } = to;
  const isRest = isSame({ ...from, status, fence }, to);
  return isRest && fence === from.fence + 1 && BEYOND.includes(`${from.status} ${status}`);
}

function withRow(state: State, row: Row | null): State | null {
  return row === null ? null : { ...state, row };
}

/** The worker as it must be to claim: registered, and done with what it had. */
function claimed(state: State, { row: { workerId } }: Observed): State | null {
  if (workerId === null) return null;
  const workers = state.workers.filter(({ id }) => id !== workerId);
  const registered = [...state.registered.filter((id) => id !== workerId), workerId];
  const at = workers.length;
  const fresh = {
    ...state,
    registered,
    workers: [...workers, { id: workerId, is: "up" as const, ...lease.FRESH }],
  };
  return chain(fresh, at, work.ask, work.take, work.takeClaim);
}

function holderOf({ row, workers }: State): number {
  return workers.findIndex(({ attempt, id }) => id === row.worker && attempt?.fence === row.fence);
}

function settled(state: State, verdict: Verdict): State | null {
  const answer = (from: State, at: number) => work.answer(from, at, verdict);
  return chain(state, holderOf(state), work.call, answer, work.tell, work.hear);
}

function givenBack(state: State, wasCalled: boolean): State | null {
  const begin = wasCalled ? work.call : (from: State) => from;
  return chain(state, holderOf(state), begin, lease.loseLease, work.giveUp, work.tellGivenUp);
}

/** Its worker froze, or died with the task in its hands, and its row was removed. */
function reaped(state: State, { before, isWorkerGone }: Observed): State | null {
  const workerId = before?.workerId ?? null;
  if (workerId === null || !isWorkerGone(workerId)) return null;
  const remove = (from: State) => lease.remove(from, workerId);
  return chain(state, holderOf(state), lease.freeze, remove, lease.reap, lease.wake);
}

function chain(
  state: State,
  at: number,
  ...steps: readonly ((state: State, at: number) => State | null)[]
): State | null {
  if (at === -1) return null;
  let next: State | null = state;
  for (const step of steps) {
    next = step(next, at);
    if (next === null || next.wrong !== null) return null;
  }
  return next;
}

function lastInterrupted({ closed }: Row): number {
  return Number.parseInt(closed.findLast((each) => each.includes("interrupted")) ?? "", 10);
}
