import {
  carryOut,
  change,
  forgetClaim,
  giveBack,
  type State,
  type Stray,
  settle,
  type TaskBug,
  worker,
} from "./worker.ts";

/*
 * What becomes of statements on their way to the database and of the answers to them: they are lost, or nobody waits for them any more and
 * they are carried out late. A function is one step, as in worker.ts.
 */

type Next = State | null;

const astray = (state: State, stray: Stray): State => ({ ...state, strays: [...state.strays, stray] });

export function loseClaim(state: State, at: number): Next {
  return worker(state, at).claim === null ? null : forgetClaim(state, at);
}

export function delayClaim(state: State, at: number): State | null {
  const { claim } = worker(state, at);
  return claim?.at === "begun" ? astray(forgetClaim(state, at), { kind: "claim", claim }) : null;
}

/** The worker settles again. */
export function loseSettlement(state: State, at: number): Next {
  const { attempt } = worker(state, at);
  return attempt?.at === "told" ? change(state, at, { attempt: { ...attempt, at: "answered" } }) : null;
}

export function delaySettlement(state: State, at: number): Next {
  const { attempt } = worker(state, at);
  return attempt?.at === "answered" ? astray(state, { kind: "settlement", attempt }) : null;
}

/** The worker leaves the task to its reconciler. */
export function delayGiveBack(state: State, at: number): Next {
  const { attempt } = worker(state, at);
  if (attempt?.at !== "given up") return null;
  const untold = attempt.wasSent ? attempt.fence : null;
  return astray(change(state, at, { attempt: null, untold }), { kind: "give-back", attempt });
}

/** The oldest of them is carried out after all. */
export function arriveLate(state: State, bug: TaskBug | null = null): Next {
  const [stray, ...strays] = state.strays;
  if (stray === undefined) return null;
  const rest = { ...state, strays };
  if (stray.kind === "claim") return carryOut(rest, stray.claim)[0];
  return stray.kind === "settlement"
    ? settle(rest, stray.attempt, bug)[0]
    : giveBack(rest, stray.attempt, bug);
}
