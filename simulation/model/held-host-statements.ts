import {
  breakerName,
  breakersOf,
  breakerTaskLock,
  breakerTasksOf,
  findBreaker,
  keepBreakers,
  lockBreaker,
  mayBegin,
  storeBreaker,
  storeBreakerTask,
  waitingRow,
} from "./breaker-rows.ts";
import { byTurn, isDue } from "./claim-statements.ts";
import { arrayAt, type Effects, numberAt, textAt } from "./effect.ts";
import { holdsHosts, ownQueue } from "./queue-statements.ts";
import { isTaskLocked, requireUnlocked, type Session, takeLock, write } from "./session.ts";
import type { BreakerTaskColumns, TaskColumns } from "./tables.ts";
import { changeTask, keepOwn, ordered, ownTask, pendingOfFlows } from "./task-rows.ts";

const DAY_MS = 86_400_000;
/** As long a task keeps the pass that its flow does not let it use. */
const UNUSED_MS = 10_000;

/** The tasks that wait for a host that a circuit breaker holds, and the passes with which they begin. */
export const heldHostStatements: Effects = {
  held_hosts(session) {
    const { tables, nowMs } = session;
    return breakersOf(session).flatMap(({ team_id: teamId, queue_id: queueId, host, phase, until }) => {
      const queue = tables.queues.get(queueId);
      if (queue === undefined || queue.deleted_at !== null || queue.paused) return [];
      const isOld = until < nowMs - DAY_MS;
      const isBusy = phase !== "open" || isOld || queue.ordered;
      if (!isBusy && breakerTasksOf(session, queueId, host).length === 0) return [];
      const waitMs = phase === "open" && !queue.ordered ? Math.max(0, until - nowMs) : 0;
      return [{ teamId, queueId, host, queue: queue.name, waitMs }];
    });
  },

  lock_due_breaker(session, values) {
    const queue = session.tables.queues.get(numberAt(values, 2));
    if (queue === undefined || queue.deleted_at !== null) return [];
    takeLock(session, `queue ${queue.team_id}/${queue.name}`);
    return [{ ordered: queue.ordered }];
  },

  due_breaker(session, values) {
    const row = findBreaker(session, numberAt(values, 2), textAt(values, 3));
    if (row === undefined) return [];
    const { phase, cooldown, allowed, until } = row;
    if (phase === "open" && until > session.nowMs && values[3] !== true) return [];
    return [{ phase, cooldown, allowed, until: new Date(until), isOld: until < session.nowMs - DAY_MS }];
  },

  revoke_passes(session, values) {
    const { nowMs } = session;
    const late = passesOf(session, values).flatMap((row) => {
      const task = session.tables.tasks.get(row.task_id);
      const isUnused =
        task?.status === "pending" && isLive(session, row) && row.passed_at < nowMs - UNUSED_MS;
      const isOfFlow = task !== undefined && task.flow !== null && !task.is_held;
      return isUnused && isOfFlow && !isTaskLocked(session, task.id) ? [{ row, task }] : [];
    });
    for (const { row, task } of late) {
      takeLock(session, `task ${task.id}`);
      hold(session, task, true);
      storeBreakerTask(session, task.id, { ...row, passed_at: null, due_at: nowMs });
    }
    return [];
  },

  pass_tasks(session, values) {
    const { nowMs } = session;
    const [queueId, host] = [numberAt(values, 2), textAt(values, 3)];
    const [most, isFree, until] = [numberAt(values, 4), values[4] === true, values[5] as Date];
    const passes = passesOf(session, values);
    const live = passes.filter((row) => isLive(session, row));
    const recent = live.filter(({ passed_at }) => passed_at >= until.getTime()).length;
    const counted = session.model.plant === "passes-not-counted" ? 0 : recent;
    const first = ordered(
      breakerTasksOf(session, queueId, host).filter(({ passed_at }) => passed_at === null),
      ({ priority }) => -priority,
      ({ due_at }) => due_at,
      ({ task_id }) => task_id,
    ).slice(0, isFree ? most : Math.max(0, most - counted));
    const found = first.map((row) => ({ row, task: ownTask(session, row.task_id) }));
    const free = found.filter(({ row }) => isFreeFor(session, row.task_id));
    const waiting = free.flatMap(({ row, task }) =>
      task?.status === "pending" && task.is_held && !task.sandbox ? [{ row, task }] : [],
    );
    const ended = passes.filter((row) => !live.includes(row) || isFree).map(({ task_id }) => task_id);
    const dropped = found.flatMap(({ row, task }) => {
      const waits = waiting.some((each) => each.row === row);
      const isLocked = free.some((each) => each.row === row);
      return task === undefined || (isLocked && (isFree || !waits)) ? [row.task_id] : [];
    });
    for (const id of [...ended, ...dropped]) takeLock(session, breakerTaskLock(id));
    for (const { task } of free) if (task !== undefined) takeLock(session, `task ${task.id}`);
    for (const id of [...ended, ...dropped]) storeBreakerTask(session, id, null);
    for (const { row, task } of waiting) {
      hold(session, task, false);
      if (!isFree) storeBreakerTask(session, task.id, { ...row, passed_at: nowMs, fence: task.fence });
    }
    const flows = [...new Set(waiting.flatMap(({ task }) => task.flow ?? []))];
    return [
      {
        ...{ tried: first.length, live: live.length, released: waiting.length },
        flows: flows.length === 0 ? null : flows,
        plain: waiting.filter(({ task }) => task.flow === null).length,
      },
    ];
  },

  lock_idle_breaker(session, values) {
    const row = findBreaker(session, numberAt(values, 2), textAt(values, 3));
    if (row === undefined || !lockBreaker(session, breakerName(row.queue_id, row.host))) return [];
    return [{ "?column?": 1 }];
  },

  forget_breaker(session, values) {
    const [queueId, host] = [numberAt(values, 2), textAt(values, 3)];
    const row = findBreaker(session, queueId, host);
    if (row === undefined || breakerTasksOf(session, queueId, host).length > 0) return [];
    storeBreaker(session, row, null);
    const queue = ownQueue(session, queueId);
    const others = breakersOf(session).filter((each) => each.queue_id === queueId && each.host !== host);
    const holds = others.some(({ phase }) => phase !== "draining");
    if (queue !== undefined && queue.holds_hosts !== holds) holdsHosts(session, queue, holds);
    return [{ "?column?": 1 }];
  },

  hold_tasks(session, values) {
    const due = [...session.tables.tasks.values()].filter(
      (task) => task.queue_id === numberAt(values, 2) && isDue(task, session.nowMs),
    );
    return [{ held: takeOut(session, byTurn(due).slice(0, numberAt(values, 3))).length }];
  },

  hold_flow_tasks(session, values) {
    const { tables, nowMs } = session;
    const flows = arrayAt<string>(values, 4).filter((key) => tables.flows.get(key)?.ordered !== true);
    const due = pendingOfFlows(session).filter(
      ({ flow, queue_id, run_at }) =>
        queue_id === numberAt(values, 2) && run_at <= nowMs && flows.includes(flow ?? ""),
    );
    return [{ held: takeOut(session, due).length }];
  },
};

/** Takes those out that may not begin, but for those that another transaction has locked. */
export function takeOut(session: Session, due: readonly TaskColumns[]): TaskColumns[] {
  const stopped = due.filter((task) => !mayBegin(session, task));
  keepBreakers(session, stopped);
  const waiting = stopped.filter(({ id }) => !isTaskLocked(session, id));
  for (const { id } of waiting) requireUnlocked(session.model, session.transaction, breakerTaskLock(id));
  for (const task of waiting) {
    hold(session, task, true);
    storeBreakerTask(session, task.id, waitingRow(task));
  }
  return waiting;
}

function hold(session: Session, before: TaskColumns, is_held: boolean): void {
  keepOwn(session, { ...before, is_held });
  write(session, () => changeTask(session, before, { is_held }));
}

type PassedRow = BreakerTaskColumns & { readonly passed_at: number };

function passesOf(session: Session, values: readonly unknown[]): PassedRow[] {
  return breakerTasksOf(session, numberAt(values, 2), textAt(values, 3)).flatMap((row) =>
    row.passed_at === null ? [] : [{ ...row, passed_at: row.passed_at }],
  );
}

/** By the row of its task. */
function isLive({ tables, model }: Session, { task_id, fence }: BreakerTaskColumns): boolean {
  const task = tables.tasks.get(task_id);
  if (model.plant === "pass-kept") return true;
  return (
    (task?.status === "pending" && task.fence === fence) ||
    (task?.status === "active" && task.fence === fence + 1)
  );
}

/** Locked by this transaction, or by none. */
function isFreeFor({ model, transaction, tables }: Session, id: string): boolean {
  const holder = model.locks.get(`task ${id}`);
  return tables.tasks.has(id) && (holder === undefined || holder === transaction);
}
