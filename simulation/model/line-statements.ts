import { lineMayBegin } from "./breaker-rows.ts";
import { CLAIMED, hasDueTasks, isDue } from "./claim-statements.ts";
import { type Effects, numberAt } from "./effect.ts";
import { type Session, type Transaction, takeLock, write } from "./session.ts";
import type { QueueColumns, TaskColumns } from "./tables.ts";
import { changeTask, ordered, pickColumns, started } from "./task-rows.ts";

/** The transactions that begin a line. */
const opening = new WeakSet<Transaction>();

/**
 * The lines of ordered queues. What the store keeps beside the tasks to find the first of a line soon, the model does
 * without: it looks at every task.
 */
export const lineStatements: Effects = {
  lock_line(session, values) {
    const [queueId, epoch, workerId] = [2, 3, 4].map((index) => numberAt(values, index));
    const { tables } = session;
    const queue = tables.queues.get(queueId ?? 0);
    if (queue === undefined) return [];
    takeLock(session, `queue ${queue.team_id}/${queue.name}`);
    const isCurrent = queue.epoch === epoch && queue.ordered && queue.deleted_at === null;
    if (!isCurrent || !tables.workers.has(workerId ?? 0)) return [];
    return [{ onFailure: queue.on_failure }];
  },

  /** The claim that follows in the same transaction does it. */
  open_line({ transaction }) {
    if (transaction !== null) opening.add(transaction);
    return [];
  },

  refresh_line({ tables, transaction }, values) {
    const isOpening = transaction !== null && opening.has(transaction);
    return isOpening || tables.lines.get(numberAt(values, 2))?.isOpen ? [{ isPartial: false }] : [];
  },

  claim_ordered_task: (session, values) => claimOrdered(session, values, () => true),
  claim_unheld_ordered_task: (session, values) => claimOrdered(session, values, lineMayBegin),

  clear_line(session, values) {
    const queueId = numberAt(values, 2);
    write(session, () => session.tables.lines.delete(queueId));
    return [];
  },

  hold_line(session, values) {
    const queueId = numberAt(values, 2);
    const begun = begunTasks(session, queueId, isUnderWay);
    write(session, () => session.tables.lines.set(queueId, { isOpen: false, begun }));
    return [];
  },

  join_flow_tasks(session, values) {
    const { tables } = session;
    const queueId = numberAt(values, 2);
    const begun = begunTasks(
      session,
      queueId,
      (task) => task.flow !== null && !task.is_held && isBetweenAttempts(task),
    );
    write(session, () => {
      const line = tables.lines.get(queueId);
      if (line?.isOpen === false)
        tables.lines.set(queueId, { ...line, begun: new Map([...begun, ...line.begun]) });
    });
    return [{ count: 0 }];
  },

  ordered_queues: (session) =>
    [...session.tables.queues.values()]
      .filter((queue) => queue.ordered && queue.deleted_at === null)
      .map((queue) => ({
        teamId: queue.team_id,
        queueId: queue.id,
        queue: queue.name,
        hasDue: hasDueTasks(session, queue) || hasDueFlowTasks(session, queue),
        isNew: queue.updated_at > session.nowMs - 60_000,
      })),
};

function claimOrdered(
  session: Session,
  values: readonly unknown[],
  filter: (session: Session, task: TaskColumns) => boolean,
): object[] {
  const [queueId, workerId] = [numberAt(values, 2), numberAt(values, 3)];
  const { nowMs, tables } = session;
  const line = tables.lines.get(queueId);
  const known = new Map([
    ...(line?.isOpen ? [] : begunTasks(session, queueId, isUnderWay, isNext)),
    ...(line?.begun ?? []),
  ]);
  const held = holders(session, known, values[3] === true);
  const first = firstOf(session, queueId, held);
  // The statement of the task's flow claims it, in the same transaction.
  const isOfFlow = first !== undefined && first.flow !== null;
  const mayStart = (task: TaskColumns) => isStartable(task, nowMs) && filter(session, task);
  const ofFlow = isOfFlow && mayStart(first) ? { id: first.id, flow: first.flow } : null;
  const head = isOfFlow ? undefined : first;
  const canStart = head !== undefined && mayStart(head);
  if (canStart) takeLock(session, `task ${head.id}`);
  const claimed = canStart ? { ...head, ...started(head, workerId, nowMs) } : null;
  const holding = new Map(held.map(({ id }) => [id, known.get(id) ?? 0]));
  if (claimed !== null) holding.set(claimed.id, claimed.retries);
  write(session, (place) => {
    tables.lines.set(queueId, { isOpen: true, begun: holding });
    if (head !== undefined && claimed !== null)
      changeTask(session, head, started(head, workerId, nowMs), place);
  });
  if (claimed === null) return [{ isDue: false, head: ofFlow, id: null }];
  return [
    {
      isDue: true,
      head: null,
      ...pickColumns(claimed, CLAIMED),
      runAt: new Date(claimed.run_at),
      attemptStartedAt: new Date(nowMs),
      scheduledFor: claimed.scheduled_for === null ? null : new Date(claimed.scheduled_for),
    },
  ];
}

function begunTasks(
  session: Session,
  queueId: number,
  ...which: ((task: TaskColumns) => boolean)[]
): Map<string, number> {
  return begunOf(session, (task) => task.queue_id === queueId && which.some((isOne) => isOne(task)));
}

/** The tasks that have begun, and how often a user retried each. */
export function begunOf({ tables }: Session, isOne: (task: TaskColumns) => boolean): Map<string, number> {
  const begun = [...tables.tasks.values()].filter((task) => !task.sandbox && isOne(task));
  return new Map(begun.map(({ id, retries }) => [id, retries]));
}

export function isUnderWay({ status }: TaskColumns): boolean {
  return status === "active" || status === "waiting" || status === "polling";
}

export function isBetweenAttempts({
  status,
  attempt_count,
  retries,
  failures,
  interruptions,
}: TaskColumns): boolean {
  return status === "pending" && ((attempt_count > 0 && retries === 0) || failures > 0 || interruptions > 0);
}

/** A task with a flow has a row in the line while it waits; another one is found among those that are due. */
function isNext(task: TaskColumns): boolean {
  return isBetweenAttempts(task) && (task.flow !== null || !task.is_held);
}

/** Of those that have begun, those that hold the line, the oldest first. */
export function holders(
  { tables, model }: Session,
  begun: ReadonlyMap<string, number>,
  blocks: boolean,
): TaskColumns[] {
  if (model.plant === "line-not-held") return [];
  const holding = [...begun].flatMap(([id, retries]) => {
    const task = tables.tasks.get(id);
    if (task === undefined) return [];
    const { status, failure_reason } = task;
    const isRetrying = status === "pending" && (task.retries === retries || blocks);
    const isBlocking = status === "failed" && blocks && failure_reason !== "expired";
    return isUnderWay(task) || isRetrying || isBlocking ? [task] : [];
  });
  return byCreation(holding);
}

/** Who may start next; undefined: nobody. */
function firstOf(
  { tables, nowMs }: Session,
  queueId: number,
  held: readonly TaskColumns[],
): TaskColumns | undefined {
  if (held.length > 0) return held.every(({ status }) => status === "pending") ? held[0] : undefined;
  const due = [...tables.tasks.values()].filter(
    (task) => task.queue_id === queueId && isStartable(task, nowMs),
  );
  return byCreation(due)[0];
}

function isStartable(task: TaskColumns, nowMs: number): boolean {
  return isDue({ ...task, flow: null }, nowMs) && (task.deadline_at === null || task.deadline_at > nowMs);
}

function hasDueFlowTasks({ tables, nowMs }: Session, { id, paused }: QueueColumns): boolean {
  const isOne = (task: TaskColumns) =>
    task.queue_id === id && task.flow !== null && isDue({ ...task, flow: null }, nowMs);
  return !paused && [...tables.tasks.values()].some(isOne);
}

export function byCreation(tasks: readonly TaskColumns[]): TaskColumns[] {
  return ordered(
    tasks,
    ({ created_at }) => created_at,
    ({ id }) => id,
  );
}
