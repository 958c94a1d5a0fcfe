import { type Base, defineProtocol, forEach, once } from "../engine/protocol.ts";
import {
  CREATED,
  cancelled,
  claimed,
  isEnded,
  type Row,
  retried,
  returned,
  settled,
  type Verdict,
} from "../task/row.ts";

/*
 * A cancel beside the claim, the call and the settlement of its task, with retries, a dismissal and a callback: engine/cancellations.ts,
 * void-claims.ts and freeze-watch.ts. Leases are left to the protocol "claim": here none runs out. A freeze lasts for more than the four
 * seconds after which no call begins from the answer to a claim.
 */

const BUGS = {
  "cancel-keeps-fence": "a cancel leaves the fence as it is",
  "cancel-by-look": "a cancel does not lock the task that it looks at",
  "answered-at-once": "a cancel is answered before the node that holds the task confirms it",
  "void-forgotten": "a node that hears of a cancel before the answer to its claim does not remember it",
  "old-answers": "a node begins the call of a claim whose answer it reads after a freeze",
  "no-freeze-watch": "a node that wakes lets calls leave before it has read what it missed",
  "retry-at-once": "a retry of a cancelled task does not wait until the call is broken off",
  "callback-in-any-state": "a callback does not ask whether its task still waits",
  "dismissal-kept": "a retry keeps the dismissal of the task",
} as const;
type Bug = keyof typeof BUGS;

interface Node {
  readonly isFrozen: boolean;
  /** Its attempt is from before a freeze, and it has not read yet what it was told meanwhile. */
  readonly isBehind: boolean;
  /** It was not told of the end of its claim, and goes on until its reconciler makes its round. */
  readonly isCutOff: boolean;
  /** The answer to a claim is on the way. */
  readonly claim: { readonly fence: number; readonly isOld: boolean; readonly isVoid: boolean } | null;
  readonly attempt: Attempt | null;
  /** Unread, each with the fence of the claim that is void. */
  readonly hints: readonly number[];
}

interface Attempt {
  readonly fence: number;
  readonly number: number;
  readonly at: "claimed" | "calling" | "answered";
  readonly verdict: Verdict | null;
}

interface State extends Base {
  readonly row: Row;
  readonly isDismissed: boolean;
  /** It was retried within a second of its cancel, and is not due yet. */
  readonly isResting: boolean;
  readonly nodes: readonly Node[];
  /** A cancel without its answer, with the claim that it has made void. */
  readonly cancel: {
    readonly is: "looking" | "waiting" | "confirmed";
    readonly fence: number;
    readonly holder: number;
  } | null;
  /** The claims that were made void by an answered cancel. */
  readonly told: readonly number[];
}

const NAMES = ["A", "B"];
const IDLE: Node = {
  isFrozen: false,
  isBehind: false,
  isCutOff: false,
  claim: null,
  attempt: null,
  hints: [],
};
const START: State = {
  row: CREATED,
  isDismissed: false,
  isResting: false,
  nodes: NAMES.map(() => IDLE),
  cancel: null,
  told: [],
  faults: 0,
  wrong: null,
};

type Move = (state: State, at: number) => State | null;

function change(state: State, at: number, changes: Partial<Node>): State {
  const nodes = state.nodes.map((node, index) => (index === at ? { ...node, ...changes } : node));
  return { ...state, nodes };
}

/** What a node does that is not frozen. */
function does(move: (node: Node, state: State, at: number) => State | null): Move {
  return (state, at) => {
    const node = state.nodes[at];
    return node === undefined || node.isFrozen ? null : move(node, state, at);
  };
}

function answers(verdict: Verdict): Move {
  return does(({ attempt }, state, at) =>
    attempt?.at === "calling"
      ? change(state, at, { attempt: { ...attempt, at: "answered", verdict } })
      : null,
  );
}

const endsTwice = (row: Row) => (isEnded(row) ? "The task ends a second time." : null);

const nodeMoves = (bug: Bug | null): Readonly<Record<string, Move>> => ({
  "Node * claims the task.": does(({ claim, attempt }, state, at) => {
    const row = state.isResting || claim !== null || attempt !== null ? null : claimed(state.row, at);
    if (row === null) return null;
    return change({ ...state, row }, at, { claim: { fence: row.fence, isOld: false, isVoid: false } });
  }),
  "Node * reads the answer to its claim.": does(({ claim }, state, at) => {
    if (claim === null) return null;
    const { fence, isOld, isVoid } = claim;
    const { row } = state;
    if (isOld && bug !== "old-answers") {
      const given = returned(row, { fence, phase: "not sent", isCounted: false });
      return change({ ...state, row: given ?? row }, at, { claim: null });
    }
    const attempt: Attempt = { fence, number: row.attempt, at: "claimed", verdict: null };
    return change(state, at, { claim: null, attempt: isVoid ? null : attempt });
  }),
  "Node * begins the call.": does(({ attempt, isBehind }, state, at) => {
    if (attempt?.at !== "claimed" || (isBehind && bug !== "no-freeze-watch")) return null;
    const wrong = state.told.includes(attempt.fence) ? "A call begins after its cancel was answered." : null;
    return { ...change(state, at, { attempt: { ...attempt, at: "calling" } }), wrong };
  }),
  "The target answers node * with a 200.": answers("completed"),
  "The target answers node * with a 202: the task waits for its callback.": answers("waiting"),
  "The target answers node * with a 400.": answers("failed"),
  "The settlement of node * is carried out.": does(({ attempt }, state, at) => {
    if (attempt?.at !== "answered" || attempt.verdict === null) return null;
    const { fence, number, verdict } = attempt;
    const row = settled(state.row, { fence, attempt: number, verdict });
    const after = change(state, at, { attempt: null, isCutOff: false });
    return row === null ? after : { ...after, row, wrong: endsTwice(state.row) };
  }),
  "Node * reads what it was told, breaks off what is void, and confirms it.": does((node, state, at) => {
    const { hints, attempt, claim, isBehind } = node;
    if (hints.length === 0 && !isBehind) return null;
    const isTold = (of: { readonly fence: number } | null) => of !== null && hints.includes(of.fence);
    const { cancel } = state;
    return change(
      { ...state, cancel: cancel && isTold(cancel) ? { ...cancel, is: "confirmed" } : cancel },
      at,
      {
        hints: [],
        isBehind: false,
        claim: claim && isTold(claim) && bug !== "void-forgotten" ? { ...claim, isVoid: true } : claim,
        attempt: isTold(attempt) && attempt?.at !== "answered" ? null : attempt,
      },
    );
  }),
  "The reconciler of node * breaks off what is void.": does(({ attempt }, state, at) => {
    const isVoid = attempt !== null && attempt.at !== "answered" && attempt.fence !== state.row.fence;
    return isVoid ? change(state, at, { attempt: null, isCutOff: false }) : null;
  }),
  "Node * wakes.": (state, at) =>
    state.nodes[at]?.isFrozen
      ? change(state, at, { isFrozen: false, isBehind: state.nodes[at]?.attempt !== null })
      : null,
});

const nodeFaults: Readonly<Record<string, Move>> = {
  "Node * freezes.": does(({ claim, attempt }, state, at) =>
    claim === null && attempt === null ? null : change(state, at, { isFrozen: true }),
  ),
  "What node * was told is lost with its connection.": does(({ hints }, state, at) => {
    const told = state.told.filter((fence) => !hints.includes(fence));
    return hints.length === 0 ? null : change({ ...state, told }, at, { hints: [], isCutOff: true });
  }),
};

function carryOutCancel(state: State, bug: Bug | null): State | null {
  const { row } = state;
  const wrong = endsTwice(row);
  const next = cancelled(row);
  // With a look instead of a lock, the statement changes what has ended meanwhile.
  if (next === null) return bug === "cancel-by-look" ? { ...state, wrong } : null;
  const { worker: holder, fence } = row;
  const after = { ...state, row: bug === "cancel-keeps-fence" ? { ...next, fence } : next };
  const node = holder === null ? undefined : state.nodes[holder];
  if (holder === null || node === undefined) return { ...after, cancel: null };
  const heard = change(after, holder, { hints: [...node.hints, fence] });
  if (bug === "answered-at-once") return { ...heard, cancel: null, told: [...state.told, fence] };
  return { ...heard, cancel: { is: "waiting", fence, holder } };
}

type Step = (state: State) => State | null;

const clientSteps = (bug: Bug | null): Readonly<Record<string, Step>> => ({
  "The cancel changes the task that it has looked at.": (state) =>
    state.cancel?.is === "looking" ? carryOutCancel(state, bug) : null,
  "The cancel is answered: the node has confirmed it.": (state) => {
    const { cancel, nodes, told } = state;
    if (cancel?.is !== "confirmed") return null;
    const isCalled = nodes.some(({ attempt }) => attempt?.at === "calling" && attempt.fence === cancel.fence);
    const wrong = isCalled ? "A cancel was confirmed, and its call is under way." : null;
    return { ...state, cancel: null, told: [...told, cancel.fence], wrong };
  },
  "The cancel is answered: the node has not confirmed it for a second.": (state) => {
    const { cancel, nodes, told } = state;
    const node = cancel?.is === "waiting" ? nodes[cancel.holder] : undefined;
    if (cancel === null || node === undefined) return null;
    const answered = { ...state, cancel: null };
    // What it was told is lost.
    if (!node.hints.includes(cancel.fence)) return answered;
    if (!node.isFrozen) return null;
    const claim = node.claim && { ...node.claim, isOld: true };
    return { ...change(answered, cancel.holder, { claim }), told: [...told, cancel.fence] };
  },
  "A second has passed since the cancel, and the retried task is due.": (state) =>
    state.isResting && state.cancel === null ? { ...state, isResting: false } : null,
  "The callback arrives.": (state) => {
    if (state.row.status !== "waiting" && (bug !== "callback-in-any-state" || !isEnded(state.row)))
      return null;
    const row: Row = { ...state.row, status: "completed", fence: state.row.fence + 1 };
    return { ...state, row, wrong: endsTwice(state.row) };
  },
});

const clientRequests = (bug: Bug | null): Readonly<Record<string, Step>> => ({
  "A client cancels the task.": (state) => {
    if (state.cancel !== null || isEnded(state.row)) return null;
    if (bug !== "cancel-by-look") return carryOutCancel(state, bug);
    return { ...state, cancel: { is: "looking", fence: -1, holder: 0 } };
  },
  "A client retries the task.": (state) => {
    const row = retried(state.row);
    if (row === null) return null;
    const isResting = state.row.status === "cancelled" && bug !== "retry-at-once";
    return { ...state, row, isResting, isDismissed: state.isDismissed && bug === "dismissal-kept" };
  },
  "A client dismisses the task.": (state) =>
    state.row.status === "failed" && !state.isDismissed ? { ...state, isDismissed: true } : null,
});

/** The known limit: a node that is frozen or was not told of a cancel goes on with its call for some seconds. */
function wrong({ row, nodes, isDismissed }: State): string | null {
  const open = nodes.filter(
    ({ attempt, isFrozen, isBehind, isCutOff }) =>
      attempt?.at === "calling" && !isFrozen && !isBehind && !isCutOff,
  );
  if (open.length > 1) return "Two calls of the task are under way at once.";
  return isDismissed && row.status !== "failed" ? `A task is dismissed and ${row.status}.` : null;
}

export const cancelProtocol = defineProtocol<State, Bug>({
  name: "cancel",
  about:
    "a cancel beside the claim, the call and the settlement of its task, then retries, a dismissal and a callback",
  bugs: BUGS,
  bounds: { least: 2, usual: 5 },
  build: (bug) => ({
    start: START,
    wrong,
    isSettled: ({ row, nodes, cancel }) =>
      isEnded(row) &&
      cancel === null &&
      nodes.every(({ claim, attempt }) => claim === null && attempt === null),
    actions: [
      ...forEach(NAMES, nodeMoves(bug)),
      ...forEach(NAMES, nodeFaults, true),
      ...once(clientSteps(bug)),
      ...once(clientRequests(bug), true),
    ],
  }),
});
