import type { Base } from "../engine/protocol.ts";
import { claimed, isEnded, type Row, returned, settled, superseded, type Verdict } from "./row.ts";

/*
 * What workers do with one task, from the claim to the settlement: engine/claim-due.ts, engine/attempts.ts and engine/settler.ts. Each
 * function is one step of the worker at a place in `workers`, or of the database. Null: it cannot happen in this state.
 */

/** A node, with the number of its row in `workers`. */
export interface Worker {
  readonly id: number;
  readonly is: "up" | "frozen" | "down";
  /** By its own clock. It is over before the row of the worker may be removed. */
  readonly hasLease: boolean;
  readonly claim: Claim | null;
  readonly attempt: Attempt | null;
  /** The fence of a task that the reconciler found without an attempt, and whether the claims of that time were answered. */
  readonly suspect: { readonly fence: number; readonly isAnswered: boolean } | null;
  /** The fence of an attempt that was sent, and whose give-back was lost. */
  readonly untold: number | null;
}

/** Begun: the statement has found the row of its worker, and the row of the task is next. Done: the answer to it is on the way. */
export interface Claim {
  readonly worker: number;
  readonly at: "begun" | "done";
  /** Null: no task was due. */
  readonly fence: number | null;
  readonly number: number;
}

export interface Attempt {
  readonly worker: number;
  readonly fence: number;
  readonly number: number;
  /** `told`: its settlement was carried out, and the answer to it is on the way. */
  readonly at: "claimed" | "calling" | "answered" | "told" | "given up";
  readonly verdict: Verdict | null;
  readonly wasSent: boolean;
  /** Its settlement changed the task. */
  readonly hasCounted: boolean;
}

/** A statement that nobody waits for any more, and that is carried out late. */
export type Stray =
  | { readonly kind: "claim"; readonly claim: Claim }
  | { readonly kind: "settlement" | "give-back"; readonly attempt: Attempt };

export interface State extends Base {
  readonly row: Row;
  /** The rows of `workers`. */
  readonly registered: readonly number[];
  readonly workers: readonly Worker[];
  readonly strays: readonly Stray[];
  /** The last attempt that was called. */
  readonly called: number;
}

/** Bugs that somebody could have written here. */
export type TaskBug =
  | "no-fence"
  | "no-lease-check"
  | "give-back-without-fence"
  | "lease-without-margin"
  | "reconcile-at-once"
  | "no-reconciler"
  | "reap-once"
  | "untold-forgotten";
type Next = State | null;

export function worker(state: State, at: number): Worker {
  const found = state.workers[at];
  if (found === undefined) throw new Error(`There is no worker ${at}`);
  return found;
}

export function change(state: State, at: number, changes: Partial<Worker>): State {
  return {
    ...state,
    workers: state.workers.map((each, index) => (index === at ? { ...each, ...changes } : each)),
  };
}

/** A claim of a worker that is not registered finds nothing: it is as if it had not been made. */
export function ask(state: State, at: number): Next {
  const { id, is, hasLease, claim, attempt } = worker(state, at);
  if (is !== "up" || !hasLease || claim !== null || attempt !== null) return null;
  if (state.row.status !== "pending" || !state.registered.includes(id)) return null;
  return change(state, at, { claim: { worker: id, at: "begun", fence: null, number: 0 } });
}

/** The statement locks the row of the task, and finds it as it is now. */
export function take(state: State, at: number): Next {
  const { claim } = worker(state, at);
  if (claim?.at !== "begun") return null;
  const [taken, done] = carryOut(state, claim);
  return change(taken, at, { claim: done });
}

export function carryOut(state: State, claim: Claim): [State, Claim] {
  const row = claimed(state.row, claim.worker);
  if (row === null) return [state, { ...claim, at: "done" }];
  return [
    { ...state, row },
    { ...claim, at: "done", fence: row.fence, number: row.attempt },
  ];
}

export function takeClaim(state: State, at: number): Next {
  const { is, claim } = worker(state, at);
  if (is !== "up" || claim?.at !== "done") return null;
  const { fence, number, worker: id } = claim;
  const fresh = { at: "claimed", verdict: null, wasSent: false, hasCounted: false } as const;
  const attempt: Attempt | null = fence === null ? null : { worker: id, fence, number, ...fresh };
  return change(forgetClaim(state, at), at, { attempt });
}

/** It was answered, or is not waited for any more. */
export function forgetClaim(state: State, at: number): State {
  const { suspect } = worker(state, at);
  return change(state, at, { claim: null, suspect: suspect && { ...suspect, isAnswered: true } });
}

function isOurs({ id, hasLease }: Worker, attempt: Attempt): boolean {
  return hasLease && id === attempt.worker;
}

export function call(state: State, at: number, bug: TaskBug | null = null): Next {
  const own = worker(state, at);
  const { is, attempt } = own;
  if (is !== "up" || attempt?.at !== "claimed") return null;
  if (!isOurs(own, attempt) && bug !== "no-lease-check") return null;
  const { number } = attempt;
  const wrong =
    number <= state.called
      ? `Attempt ${number} is called after attempt ${state.called}.`
      : attempt.fence === state.row.fence
        ? null
        : `Attempt ${number} is called, and its claim is void.`;
  return {
    ...change(state, at, { attempt: { ...attempt, at: "calling", wasSent: true } }),
    called: number,
    wrong,
  };
}

/** The answer of the target has arrived, or the call has failed. */
export function answer(state: State, at: number, verdict: Verdict): Next {
  const { is, attempt } = worker(state, at);
  if (is !== "up" || attempt?.at !== "calling") return null;
  return change(state, at, { attempt: { ...attempt, at: "answered", verdict } });
}

/** The lease is over: the call is broken off, and one that has not begun never does. */
export function giveUp(state: State, at: number): Next {
  const own = worker(state, at);
  const { is, attempt } = own;
  if (is !== "up" || attempt === null || isOurs(own, attempt)) return null;
  if (attempt.at !== "claimed" && attempt.at !== "calling") return null;
  return change(state, at, { attempt: { ...attempt, at: "given up" } });
}

/** The database carries out a settlement. */
export function settle(state: State, attempt: Attempt, bug: TaskBug | null = null): [State, boolean] {
  const { number, verdict } = attempt;
  const fence = bug === "no-fence" ? state.row.fence : attempt.fence;
  const row = verdict === null ? null : settled(state.row, { fence, attempt: number, verdict });
  if (row === null) return [state, false];
  const wrong = isEnded(state.row)
    ? "The task ends a second time."
    : number === state.row.attempt
      ? null
      : `The verdict of attempt ${number} counts while attempt ${state.row.attempt} is under way.`;
  return [{ ...state, row, wrong }, true];
}

export function tell(state: State, at: number, bug: TaskBug | null = null): Next {
  const { is, attempt } = worker(state, at);
  if (is !== "up" || attempt?.at !== "answered") return null;
  const [told, hasCounted] = settle(state, attempt, bug);
  return change(told, at, { attempt: { ...attempt, at: "told", hasCounted } });
}

/** The answer to the settlement. If it changed nothing, the record of the attempt says that it came too late. */
export function hear(state: State, at: number): Next {
  const { is, attempt } = worker(state, at);
  if (is !== "up" || attempt?.at !== "told") return null;
  const heard = change(state, at, { attempt: null });
  return attempt.hasCounted ? heard : { ...heard, row: superseded(state.row, attempt.number) };
}

/** The database gives the task back to its queue. */
export function giveBack(
  state: State,
  attempt: Pick<Attempt, "fence" | "wasSent">,
  bug: TaskBug | null = null,
): State {
  const fence = bug === "give-back-without-fence" ? state.row.fence : attempt.fence;
  const phase = attempt.wasSent ? "sent" : "not sent";
  const row = returned(state.row, { fence, phase, isCounted: false });
  if (row === null) return state;
  const wasCalled = !attempt.wasSent && state.row.attempt <= state.called;
  const wrong = wasCalled ? `Attempt ${state.row.attempt} is recorded as not sent, and was called.` : null;
  return { ...state, row, wrong };
}

export function tellGivenUp(state: State, at: number, bug: TaskBug | null = null): Next {
  const { is, attempt } = worker(state, at);
  if (is !== "up" || attempt?.at !== "given up") return null;
  return change(giveBack(state, attempt, bug), at, { attempt: null });
}
