import type { Answer, History, Seen } from "./history.ts";
import type { QueueRow, TaskChange, TaskRow } from "./rows.ts";

/** All that is known of one task, each list in the order in which it happened. */
export interface Story {
  readonly id: string;
  readonly changes: readonly TaskChange[];
  readonly calls: readonly Seen[];
  readonly polls: readonly Seen[];
  readonly notifications: readonly Seen[];
  readonly answers: readonly Answer[];
  /** The row as it was last known; null if there never was one. */
  readonly last: TaskRow | null;
  readonly isDeleted: boolean;
}

/** The committed change that began an attempt. */
export interface Claim {
  readonly committedAt: number;
  readonly workerId: number;
  readonly queueId: number;
}

export interface Stories {
  readonly all: readonly Story[];
  find(taskId: string): Story;
  claimOf(call: Seen): Claim | null;
  /** When the lease of a worker ran out while its process was stopped by SIGSTOP, and when that ended; null if neither. */
  lostWhilePaused(workerId: number): { readonly lostAt: number; readonly wokenAt: number } | null;
  /** Every state of a queue with the instant from which it held. */
  queueStates(queueId: number): readonly { readonly from: number; readonly queue: QueueRow }[];
}

interface Draft {
  changes: TaskChange[];
  calls: Seen[];
  polls: Seen[];
  notifications: Seen[];
  answers: Answer[];
}

export function tellStories(history: History): Stories {
  const drafts = new Map<string, Draft>();
  const claims = new Map<string, Claim>();
  const queues = new Map<number, { from: number; queue: QueueRow }[]>();
  const workers = new Map<number, { pid: number; removedAt: number | null }>();

  for (const change of [...history.changes].sort((one, other) => one.seq - other.seq)) {
    if (change.relation === "tasks") {
      open(drafts, change.row.id).changes.push(change);
      if (change.op !== "delete" && change.row.status === "active") keepClaim(claims, change);
    } else if (change.relation === "queues") {
      const deleted = change.op === "delete" || change.row.deleted;
      add(queues, change.row.id, { from: change.committedAt, queue: { ...change.row, deleted } });
    } else if (change.relation === "workers") {
      const removedAt = change.op === "delete" ? change.committedAt : null;
      workers.set(change.row.id, { pid: change.row.pid, removedAt });
    }
  }
  const lists = { call: "calls", poll: "polls", notification: "notifications" } as const;
  for (const seen of [...history.seen].sort((one, other) => one.begunAt - other.begunAt))
    open(drafts, seen.taskId)[lists[seen.kind]].push(seen);
  for (const answer of history.answers)
    if (answer.taskId !== null) open(drafts, answer.taskId).answers.push(answer);

  const stories = new Map([...drafts].map(([id, draft]) => [id, finish(id, draft)]));
  return {
    all: [...stories.values()],
    find: (taskId) => stories.get(taskId) ?? finish(taskId, empty()),
    claimOf: (call) => claims.get(`${call.taskId} ${call.attempt}`) ?? null,
    lostWhilePaused(workerId) {
      const worker = workers.get(workerId);
      if (worker === undefined || worker.removedAt === null) return null;
      const { pid, removedAt: lostAt } = worker;
      const pause = history.faults.find(
        ({ paused, from, to }) => paused.includes(pid) && from <= lostAt && lostAt <= to,
      );
      return pause === undefined ? null : { lostAt, wokenAt: pause.to };
    },
    queueStates: (queueId) => queues.get(queueId) ?? [],
  };
}

/** Of an attempt the first change counts: a later one of the same number is another matter. */
function keepClaim(claims: Map<string, Claim>, { row, committedAt }: TaskChange): void {
  const key = `${row.id} ${row.attemptCount}`;
  if (row.workerId === null || claims.has(key)) return;
  claims.set(key, { committedAt, workerId: row.workerId, queueId: row.queueId });
}

function finish(id: string, draft: Draft): Story {
  const change = draft.changes.at(-1);
  return { id, ...draft, last: change?.row ?? null, isDeleted: change?.op === "delete" };
}

function empty(): Draft {
  return { changes: [], calls: [], polls: [], notifications: [], answers: [] };
}

function open(drafts: Map<string, Draft>, id: string): Draft {
  const draft = drafts.get(id) ?? empty();
  drafts.set(id, draft);
  return draft;
}

function add<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key) ?? [];
  list.push(value);
  lists.set(key, list);
}
