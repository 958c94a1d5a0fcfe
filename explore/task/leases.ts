import { delayClaim } from "./network.ts";
import { returned } from "./row.ts";
import { change, giveBack, type State, type TaskBug, type Worker, worker } from "./worker.ts";

/*
 * What becomes of workers and of what they hold: engine/lease.ts, engine/reaper.ts and the reconciler of engine/attempts.ts. A function is
 * one step, as in worker.ts.
 */

type Next = State | null;

export const FRESH = { hasLease: true, claim: null, attempt: null, suspect: null, untold: null } as const;
const DEAD = { ...FRESH, is: "down", hasLease: false } as const;

/** Only a worker with something in hand can lose it. */
function isBusy({ claim, attempt }: Worker): boolean {
  return claim !== null || attempt !== null;
}

/** For longer than its lease: a shorter time is as if it were slow. */
export function freeze(state: State, at: number): Next {
  const own = worker(state, at);
  return own.is === "up" && isBusy(own) ? change(state, at, { is: "frozen", hasLease: false }) : null;
}

export function wake(state: State, at: number): Next {
  return worker(state, at).is === "frozen" ? change(state, at, { is: "up" }) : null;
}

/** The connections of the process are closed with it: its calls end. */
export function kill(state: State, at: number): Next {
  return isBusy(worker(state, at)) ? change(state, at, DEAD) : null;
}

/** The statement of its claim goes on without it. */
export function killClaiming(state: State, at: number): Next {
  const delayed = delayClaim(state, at);
  return delayed === null ? null : change(delayed, at, DEAD);
}

/** It was cut off from the database for longer than its lease. */
export function loseLease(state: State, at: number): Next {
  const own = worker(state, at);
  return own.hasLease && isBusy(own) ? change(state, at, { hasLease: false }) : null;
}

/** Under the same number if its row is still there: nothing was taken away then. */
export function renew(state: State, at: number): Next {
  const { id, is, hasLease, attempt } = worker(state, at);
  if (is === "frozen" || hasLease || attempt?.at === "calling") return null;
  if (is === "up" && state.registered.includes(id)) return change(state, at, { hasLease: true });
  const next = freeNumber(state, at);
  const registered = [...state.registered, next].sort((one, other) => one - other);
  return { ...change(state, at, { id: next, is: "up", hasLease: true }), registered };
}

/** A number that nobody knows any more is given again: otherwise each registration would make further states that differ in it alone. */
function freeNumber({ row, registered, workers, strays }: State, at: number): number {
  const known = [
    row.worker,
    ...registered,
    ...workers.flatMap((each) => [each.claim?.worker, each.attempt?.worker]),
  ];
  for (const stray of strays) known.push(stray.kind === "claim" ? stray.claim.worker : stray.attempt.worker);
  let next = at;
  while (known.includes(next)) next += workers.length;
  return next;
}

/** The reaper removes the row of a worker. One that runs has broken off its calls by then. */
export function remove(state: State, id: number, bug: TaskBug | null = null): Next {
  const holder = state.workers.find((each) => each.id === id);
  const runs = holder?.is === "up" && holder.attempt?.at === "calling";
  const acts = (holder?.hasLease || runs) && bug !== "lease-without-margin";
  if (acts || !state.registered.includes(id)) return null;
  const removed = { ...state, registered: state.registered.filter((each) => each !== id) };
  return bug === "reap-once" && state.row.worker === id ? (reap(removed) ?? removed) : removed;
}

/** The reaper gives back a task whose worker has no row. */
export function reap(state: State): Next {
  const { row, registered } = state;
  if (row.worker === null || registered.includes(row.worker)) return null;
  const given = returned(row, { fence: row.fence, phase: "sent", isCounted: true });
  return given === null ? null : { ...state, row: given };
}

/**
 * The reconciler of a node looks for a task that the database assigns to it and that it does not run. One that it found in two rounds is
 * given back, once the claims are answered that were on their way at the first.
 */
export function reconcile(state: State, at: number, bug: TaskBug | null = null): Next {
  const { id, is, hasLease, claim, attempt, suspect, untold } = worker(state, at);
  const { row } = state;
  if (is !== "up" || !hasLease || bug === "no-reconciler") return null;
  const isUnknown = row.status === "active" && row.worker === id && attempt?.fence !== row.fence;
  if (!isUnknown) return suspect === null ? null : change(state, at, { suspect: null });
  if (suspect?.fence !== row.fence && bug !== "reconcile-at-once")
    return change(state, at, { suspect: { fence: row.fence, isAnswered: claim === null } });
  if (suspect?.isAnswered === false) return null;
  const wasSent = untold === row.fence && bug !== "untold-forgotten";
  return change(giveBack(state, { fence: row.fence, wasSent }, bug), at, { suspect: null, untold: null });
}
