import type { Answer, History } from "./history.ts";
import { isEnd, type QueueRow, type TaskChange, type TaskRow } from "./rows.ts";
import type { Violation } from "./violation.ts";

/** A change of the queue and a claim may commit in either order within this time. */
const COMMIT_MS = 50;
/** Within this time of its becoming due a task has joined its line. */
const JOIN_MS = 10_000;

/** The key of an ordered flow in these runs. There are two. */
export function orderedKey(number: number): string {
  return `line-${number % 4 < 2 ? "a" : "b"}`;
}

const ORDERED_FLOW: QueueRow = {
  id: 0,
  name: "",
  concurrency: 1,
  paused: false,
  ordered: true,
  blocks: false,
  deleted: false,
};

/** What is known of a task after its last change. */
interface Member {
  row: TaskRow;
  changedAt: number;
  /** When its first attempt since its creation or its last retry by hand began; null if none has, or it has ended. */
  begunAt: number | null;
  /** It failed in a line that failures block, and has not completed since. */
  isBlocking: boolean;
  /** It had failed before the queue was changed to block on failures. It may block too: a claim in between may have released it. */
  mayBlock: boolean;
}

interface Line {
  queue: QueueRow;
  /** Since when it is ordered. */
  since: number;
  readonly members: Map<string, Member>;
}

/**
 * The promise of ordered queues and flows, from the committed changes in their order: when a task starts, no other has begun and not
 * ended, none that failed blocks the line, and none that was ready before it is older.
 */
export function checkLines(history: History): Violation[] {
  const lines = new Map<number, Line>();
  const flowLines = new Map<string, Line>();
  const created = creations(history.answers);
  const violations: Violation[] = [];
  for (const change of [...history.changes].sort((one, other) => one.seq - other.seq)) {
    if (change.relation === "queues") noteQueue(lines, change.row, change.committedAt);
    if (change.relation !== "tasks") continue;
    for (const line of [lines.get(change.row.queueId), lineOfFlow(flowLines, change.row)]) {
      if (line === undefined) continue;
      const isOrdered = line.queue.ordered && line.since < change.committedAt - COMMIT_MS;
      if (isOrdered && isStart(line, change)) {
        const text = whyNot(line, change, created);
        const { row, committedAt: at } = change;
        if (text !== null) violations.push({ promise: "line", text, taskId: row.id, at });
      }
      noteTask(line, change);
    }
  }
  return violations;
}

/** Such a flow is ordered from its first task on. */
function lineOfFlow(lines: Map<string, Line>, { teamId, flow }: TaskRow): Line | undefined {
  if (flow == null || !/^line-[ab]$/.test(flow)) return undefined;
  const name = `${teamId} ${flow}`;
  const line = lines.get(name) ?? {
    queue: ORDERED_FLOW,
    since: Number.NEGATIVE_INFINITY,
    members: new Map(),
  };
  lines.set(name, line);
  return line;
}

function noteQueue(lines: Map<number, Line>, queue: QueueRow, at: number): void {
  const line = lines.get(queue.id);
  if (line === undefined) {
    lines.set(queue.id, { queue, since: at, members: new Map() });
    return;
  }
  if (line.queue.ordered !== queue.ordered) line.since = at;
  if (queue.blocks && !line.queue.blocks)
    for (const member of line.members.values()) member.mayBlock = hasFailed(member.row);
  line.queue = queue;
  if (!queue.ordered || !queue.blocks) for (const member of line.members.values()) member.isBlocking = false;
}

function noteTask({ queue, members }: Line, { op, row, committedAt }: TaskChange): void {
  if (op === "delete") {
    members.delete(row.id);
    return;
  }
  const before = members.get(row.id);
  const isRetried = before !== undefined && row.retries > before.row.retries;
  const begunAt = isRetried ? null : (before?.begunAt ?? (row.status === "active" ? committedAt : null));
  const isOver = row.status === "completed" || row.status === "cancelled" || row.failureReason === "expired";
  const blocks = hasFailed(row) && queue.ordered && queue.blocks;
  const isBlocking = !isOver && (blocks || before?.isBlocking === true);
  members.set(row.id, {
    row,
    changedAt: committedAt,
    begunAt: isEnd(row.status) ? null : begunAt,
    isBlocking,
    mayBlock: !isOver && before?.mayBlock === true,
  });
}

function hasFailed({ status, failureReason }: TaskRow): boolean {
  return status === "failed" && failureReason !== "expired";
}

function isStart({ members }: Line, { op, row }: TaskChange): boolean {
  const before = members.get(row.id);
  return op !== "delete" && row.status === "active" && row.attemptCount > (before?.row.attemptCount ?? 0);
}

function whyNot(
  { members, since }: Line,
  { row, committedAt }: TaskChange,
  created: ReadonlyMap<string, Answer>,
): string | null {
  const own = members.get(row.id);
  // Of several that had begun before the line did, each may go on when no other is under way.
  const isOld = (at: number | null) => at !== null && at < since;
  for (const member of members.values()) {
    const { row: other } = member;
    if (other.id === row.id) continue;
    const isLeft = other.status === "pending" && isOld(member.begunAt) && isOld(own?.begunAt ?? null);
    if (member.begunAt !== null && !isLeft)
      return `it started while ${other.id} was ${other.status} and had not ended`;
    if (member.isBlocking) return `it started although ${other.id} failed and blocks the line`;
    // A task that blocks the line goes first when it is retried, even if it began before the queue was ordered and is younger.
    if (own?.isBlocking === true || own?.mayBlock === true) continue;
    if ((own?.begunAt ?? null) !== null || !isOlder(other, row) || !isReady(member, committedAt)) continue;
    const isFirst = wasAnsweredFirst(created.get(other.id), created.get(row.id)) && isPlain(other);
    const isLong = Math.max(member.changedAt, other.runAt) + JOIN_MS < committedAt;
    if (isFirst || isLong) return `it started before ${other.id}, which is older and was due`;
  }
  return null;
}

function isOlder(one: TaskRow, other: TaskRow): boolean {
  return one.createdAt === other.createdAt ? one.id < other.id : one.createdAt < other.createdAt;
}

function isReady({ row: { status, runAt, deadlineAt } }: Member, at: number): boolean {
  return status === "pending" && runAt <= at && (deadlineAt === null || deadlineAt > at);
}

/** It was due from its creation on, and never anything else. */
function isPlain({ runAt, createdAt, retries, attemptCount }: TaskRow): boolean {
  return runAt === createdAt && retries === 0 && attemptCount === 0;
}

/** The first was stored before the second was even sent. */
function wasAnsweredFirst(first: Answer | undefined, second: Answer | undefined): boolean {
  return first !== undefined && second !== undefined && first.endedAt < second.at;
}

function creations(answers: readonly Answer[]): ReadonlyMap<string, Answer> {
  const stored = answers.filter(({ action, status }) => action === "create" && status === 201);
  return new Map(stored.flatMap((answer) => (answer.taskId === null ? [] : [[answer.taskId, answer]])));
}
