import { type Base, defineProtocol, forEach, once } from "../engine/protocol.ts";

/*
 * Removals beside retries, row by row: store/tasks/task-removals.ts, task-retries.ts and the turns of bulk actions. A statement that meets
 * a locked row waits or skips it. After a wait, PostgreSQL asks of the row as it is now what the outer statement says, and no more.
 */

const BUGS = {
  "delete-by-key": "retention deletes by their keys the tasks that it found, without a lock",
  "age-not-repeated": "retention repeats that the task has ended, and not when",
  "waits-for-locks": "retention waits for locked tasks, in another order than bulk actions",
  "retry-by-key": "a bulk retry changes by their keys the tasks that it found, without a lock",
  "turn-counted-apart": "a bulk action commits a turn before it counts it",
  "pending-not-repeated": "the removal of a queue's pending tasks does not repeat that they are pending",
} as const;
type Bug = keyof typeof BUGS;

type Transaction = "retention" | "removal" | "bulk" | "claim";

interface Row {
  readonly status: "failed" | "completed" | "pending" | "active" | "gone";
  /** It ended longer ago than the retention. */
  readonly isOld: boolean;
  /** The transaction that has locked it, and the status that it has then. */
  readonly lockedBy: Transaction | null;
  readonly next: Row["status"] | null;
  /** How often the bulk action has changed it. */
  readonly turns: number;
}

/** The rows that a statement or transaction has found and not come to yet; null: none is under way. */
type Way = readonly number[] | null;

interface State extends Base {
  readonly rows: readonly Row[];
  readonly retention: Way;
  readonly removal: Way;
  readonly bulk: Way;
  /** `changed`: committed and not counted, which only a bug leads to. */
  readonly bulkIs: "asked" | "changed" | "counted";
}

const ROW: Row = { status: "failed", isOld: true, lockedBy: null, next: null, turns: 0 };
const START: State = {
  rows: [ROW, ROW],
  retention: null,
  removal: null,
  bulk: null,
  bulkIs: "asked",
  faults: 0,
  wrong: null,
};
const NAMES = ["1", "2"];
const ALL = START.rows.map((_, at) => at);

type Step = (state: State) => State | null;

function change(state: State, at: number, changes: Partial<Row>): State {
  return { ...state, rows: state.rows.map((row, index) => (index === at ? { ...row, ...changes } : row)) };
}

function end(state: State, by: Transaction, how: "commit" | "rollback"): State {
  const rows = state.rows.map((row) => {
    if (row.lockedBy !== by) return row;
    const status = how === "commit" ? (row.next ?? row.status) : row.status;
    const isOld = row.isOld && status === row.status;
    const turns = row.turns + (by === "bulk" && how === "commit" ? 1 : 0);
    return { ...row, status, isOld, lockedBy: null, next: null, turns };
  });
  return { ...state, rows };
}

const isFailed = ({ status }: Row) => status === "failed";
const isEnded = ({ status }: Row) => status === "failed" || status === "completed";
const isExpired = (row: Row) => isEnded(row) && row.isOld;

/** A statement begins: these rows fit by what it sees now, whatever it meets when it comes to them. */
function begin(state: State, by: "retention" | "removal", is: (row: Row) => boolean): State | null {
  if (state[by] !== null || !state.rows.some(is)) return null;
  const found = ALL.filter((at) => is(state.rows[at] ?? ROW));
  return { ...state, [by]: by === "retention" ? found.reverse() : found };
}

/** It comes to its next row. */
function visit(
  state: State,
  by: "retention" | "removal" | "bulk",
  visitRow: (row: Row, at: number, rest: State) => State | null,
): State | null {
  const [at, ...left] = state[by] ?? [];
  const row = at === undefined ? undefined : state.rows[at];
  return at === undefined || row === undefined ? null : visitRow(row, at, { ...state, [by]: left });
}

function finish(state: State, by: "retention" | "removal" | "bulk"): State | null {
  return state[by]?.length === 0 ? { ...end(state, by, "commit"), [by]: null } : null;
}

function remove(state: State, row: Row, at: number, by: "retention" | "removal"): State {
  const isRight = by === "retention" ? isExpired(row) : row.status === "pending";
  const wrong = isRight ? null : `The ${by} deletes a task that is ${row.status} by now.`;
  return { ...change(state, at, { lockedBy: by, next: "gone" }), wrong };
}

const steps = (bug: Bug | null): Readonly<Record<string, Step>> => ({
  "The retention begins, and finds the tasks that ended long ago.": (state) =>
    begin(state, "retention", isExpired),
  "The retention comes to its next task.": (state) =>
    visit(state, "retention", (row, at, rest) => {
      const skips = bug === null || !["delete-by-key", "age-not-repeated", "waits-for-locks"].includes(bug);
      if (row.lockedBy !== null) return skips ? rest : null;
      if (row.status === "gone") return rest;
      const asks = bug === "delete-by-key" ? () => true : bug === "age-not-repeated" ? isEnded : isExpired;
      return asks(row) ? remove(rest, row, at, "retention") : rest;
    }),
  "The retention commits.": (state) => finish(state, "retention"),
  "The removal of a deleted queue begins, and finds the pending tasks.": (state) =>
    begin(state, "removal", ({ status }) => status === "pending"),
  "The removal comes to its next task.": (state) =>
    visit(state, "removal", (row, at, rest) => {
      if (row.lockedBy !== null) return null;
      if (row.status === "gone") return rest;
      const isRight = row.status === "pending" || bug === "pending-not-repeated";
      return isRight ? remove(rest, row, at, "removal") : rest;
    }),
  "The removal commits.": (state) => finish(state, "removal"),
  "A turn of the bulk retry begins.": (state) => {
    const found = ALL.filter((at) => bug !== "retry-by-key" || isFailed(state.rows[at] ?? ROW));
    return state.bulkIs === "asked" && state.bulk === null ? { ...state, bulk: found } : null;
  },
  "The bulk retry comes to its next task.": (state) =>
    visit(state, "bulk", (row, at, rest) => {
      if (row.lockedBy !== null) return null;
      const isRight = isFailed(row);
      if (row.status === "gone" || (!isRight && bug !== "retry-by-key")) return rest;
      const twice = row.turns > 0 ? "The bulk action changes a task a second time." : null;
      const wrong = isRight ? twice : `The bulk retry begins a task again that is ${row.status} by now.`;
      return { ...change(rest, at, { lockedBy: "bulk", next: "pending" }), wrong };
    }),
  "The turn is committed.": (state) => {
    const done = finish(state, "bulk");
    return done && { ...done, bulkIs: bug === "turn-counted-apart" ? "changed" : "counted" };
  },
  "The turn is counted.": (state) => (state.bulkIs === "changed" ? { ...state, bulkIs: "counted" } : null),
});

/** Of each task. */
const taskSteps: Readonly<Record<string, Visit>> = {
  "A claim locks task *.": (state, at, { status, lockedBy }) =>
    status === "pending" && lockedBy === null
      ? change(state, at, { lockedBy: "claim", next: "active" })
      : null,
  "The claim of task * commits.": (state, at, { lockedBy }) =>
    lockedBy === "claim" ? change(state, at, { lockedBy: null, status: "active", next: null }) : null,
  "Task * completes.": (state, at, { status, lockedBy }) =>
    status === "active" && lockedBy === null
      ? change(state, at, { status: "completed", isOld: false })
      : null,
};

const taskRequests: Readonly<Record<string, Visit>> = {
  "A client retries task *.": (state, at, { status, lockedBy }) =>
    status === "failed" && lockedBy === null ? change(state, at, { status: "pending", isOld: false }) : null,
  "Task * fails.": (state, at, { status, lockedBy }) =>
    status === "active" && lockedBy === null ? change(state, at, { status: "failed", isOld: false }) : null,
};

const requests: Readonly<Record<string, Step>> = {
  "The node of the bulk retry dies, and another goes on.": (state) => {
    if (state.bulkIs === "changed") return { ...state, bulkIs: "asked" };
    return state.bulk === null ? null : { ...end(state, "bulk", "rollback"), bulk: null };
  },
};

type Visit = (state: State, at: number, row: Row) => State | null;
const ofEach = (visits: Readonly<Record<string, Visit>>) =>
  Object.fromEntries(
    Object.entries(visits).map(([text, next]) => [
      text,
      (state: State, at: number) => next(state, at, state.rows[at] ?? ROW),
    ]),
  );

export const retentionProtocol = defineProtocol<State, Bug>({
  name: "retention",
  about: "retention and the removal of a queue beside a bulk retry, single retries and claims",
  bugs: BUGS,
  bounds: { least: 2, usual: 8 },
  build: (bug) => ({
    start: START,
    wrong: () => null,
    isSettled: ({ rows, retention, removal, bulk, bulkIs }) =>
      [retention, removal, bulk].every((way) => way === null) &&
      bulkIs === "counted" &&
      rows.every((row) => row.lockedBy === null && (isEnded(row) || row.status === "gone")),
    actions: [
      ...once(steps(bug)),
      ...forEach(NAMES, ofEach(taskSteps)),
      ...once(requests, true),
      ...forEach(NAMES, ofEach(taskRequests), true),
    ],
  }),
});
