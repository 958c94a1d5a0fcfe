import { turnOf } from "../../packages/server/src/store/tasks/turns.ts";
import { mayBegin } from "./breaker-rows.ts";
import { byTurn, CLAIMED } from "./claim-statements.ts";
import { arrayAt, type Effects, numberAt, textAt } from "./effect.ts";
import { takeOut } from "./held-host-statements.ts";
import { begunOf, byCreation, holders, isBetweenAttempts, isUnderWay } from "./line-statements.ts";
import {
  type EventPlace,
  isFlowLocked,
  isTaskLocked,
  requireUnlocked,
  type Session,
  type Transaction,
  takeLock,
  write,
} from "./session.ts";
import type { FlowColumns, HoldColumns, TaskColumns } from "./tables.ts";
import { changeTask, pendingOfFlows, pickColumns, started } from "./task-rows.ts";

const PERMIT_MS = 100;
const UNLIMITED = 1_000_000;

/** The statements of flow control. */
export const flowStatements: Effects = {
  claim_flow_tasks: (session, values) => claimFlowTasks(session, values, () => true),
  claim_unheld_flow_tasks: (session, values) => claimFlowTasks(session, values, mayBegin),
  claim_flow_lines: (session, values) => claimFlowLines(session, values, () => true),
  claim_unheld_flow_lines: (session, values) => claimFlowLines(session, values, mayBegin),

  /** Runs within the transaction that claims an ordered queue. */
  claim_flow_head(session, values) {
    const keys = arrayAt<string>(values, 6);
    const slots = slotsOf(session, values);
    const gates = unlocked(session, keys).map((flow) => gateOf(session, flow));
    const claimed = gates.flatMap((gate) => {
      takeLock(session, `flow ${gate.key}`);
      write(session, () => clean(session, gate));
      const isOpen = gate.ordered !== true && gate.places > 0 && gate.permits > 0;
      return isOpen ? claimHead(session, values, textAt(values, 11)) : [];
    });
    return answer(session, { keys, slots, states: gates.map(limitsOf) }, claimed);
  },

  /** The same for an ordered flow. */
  claim_flow_line_head(session, values) {
    const { tables } = session;
    const keys = arrayAt<string>(values, 6);
    const slots = slotsOf(session, values);
    const headId = textAt(values, 9);
    const states: object[] = [];
    const claimed: TaskColumns[] = [];
    for (const flow of unlocked(session, keys)) {
      const { key } = flow;
      takeLock(session, `flow ${key}`);
      const begun = lineOf(session, key);
      if (!flow.ordered || begun === null) {
        states.push({ key, kind: flow.ordered ? "unopened" : "unordered" });
        continue;
      }
      const gate = gateOf(session, { ...flow, concurrency: null });
      const holding = holders(session, begun, false);
      states.push({ ...stateOf(gate), isHeld: holding.length > 0 });
      const head = gate.permits > 0 ? firstOfLine(session, key, holding) : undefined;
      const queue = head && tables.queues.get(head.queue_id);
      if (head !== undefined)
        states.push({
          key,
          headId: head.id,
          headQueueId: queue?.id,
          headQueue: queue?.name,
          headTurn: turn(head),
        });
      if (head?.id === headId) claimed.push(...claimHead(session, values, headId));
      const kept = new Map(holding.map(({ id }) => [id, begun.get(id) ?? 0]));
      for (const { id, retries } of claimed) kept.set(id, retries);
      write(session, () => {
        if (head !== undefined && flow.period !== null) clean(session, gate);
        tables.flowLines.set(key, { isOpen: true, begun: kept });
      });
    }
    return answer(session, { keys, slots, states }, claimed);
  },

  open_flow_lines(session, values) {
    const { tables, transaction } = session;
    for (const { key, ordered } of unlocked(session, arrayAt<string>(values, 2))) {
      if (!ordered || tables.flowLines.has(key)) continue;
      if (transaction === null) tables.flowLines.set(key, { isOpen: true, begun: begunOfFlow(session, key) });
      else opening.set(transaction, key);
    }
    return [];
  },

  confirm_flow_permits(session, values) {
    waitForFlows(session, values);
    for (const { hold, toldAt } of toldHolds(session, values)) {
      if (hold.permit_at === null) continue;
      countPermit(session, hold.flow, Math.min(hold.permit_at, toldAt));
      session.tables.holds.set(`${hold.task_id} ${hold.fence}`, { ...hold, permit_at: null });
    }
    return [{ "?column?": 1 }];
  },

  release_flow_places(session, values) {
    waitForFlows(session, values);
    for (const { hold, toldAt } of toldHolds(session, values)) {
      if (hold.permit_at !== null) countPermit(session, hold.flow, Math.min(hold.permit_at, toldAt));
      session.tables.holds.delete(`${hold.task_id} ${hold.fence}`);
    }
    return [{ "?column?": 1 }];
  },

  open_flow(session, values) {
    const key = String(values[2]);
    if (!session.tables.flows.has(key))
      session.tables.flows.set(key, { key, concurrency: null, rate: null, period: null, ordered: null });
    return [];
  },

  // Pauses are not simulated: no target asks to wait.
  pause_flow: () => [],

  look_for_due_flows(session, values) {
    const { tables, nowMs } = session;
    const since = Math.min((values[0] as number | null) ?? nowMs, nowMs) - numberAt(values, 2);
    const pending = pendingOfFlows(session);
    const upcoming = pending.map(({ run_at }) => run_at).filter((at) => at > nowMs);
    const look = {
      databaseMs: nowMs,
      untilNextMs: upcoming.length === 0 ? null : Math.min(...upcoming) - nowMs,
    };
    const lanes = firstOfLanes(pending.filter(({ run_at }) => run_at > since && run_at <= nowMs));
    const found = lanes.flatMap((task) => {
      const { team_id, flow, queue_id } = task;
      const queue = tables.queues.get(queue_id);
      return queue?.deleted_at === null
        ? [{ ...look, teamId: team_id, flow, queue: queue.name, turn: turn(task) }]
        : [];
    });
    return found.length === 0 ? [{ ...look, teamId: null, flow: null, queue: null, turn: null }] : found;
  },

  flows_with_due_tasks(session) {
    const { tables, nowMs } = session;
    const lanes = firstOfLanes(pendingOfFlows(session).filter(({ run_at }) => run_at <= nowMs));
    return lanes.flatMap((task) => {
      const { team_id, flow, queue_id } = task;
      const queue = tables.queues.get(queue_id);
      return queue?.deleted_at === null
        ? [{ teamId: team_id, flow, queue: queue.name, turn: turn(task) }]
        : [];
    });
  },
};

/** Whether a circuit breaker lets the task begin. */
type Filter = (session: Session, task: TaskColumns) => boolean;

function claimFlowTasks(session: Session, values: readonly unknown[], filter: Filter): object[] {
  const workerId = numberAt(values, 2);
  const slots = slotsOf(session, values);
  const keys = arrayAt<string>(values, 6);
  const queueIds = arrayAt<string>(values, 8).map((list) => list.slice(1, -1).split(",").map(Number));
  const limit = numberAt(values, 7);
  const lastTurns = arrayAt<number>(values, 9);
  const plains = arrayAt<number>(values, 10);
  const asked = arrayAt<number>(values, 3).map((queueId, index) => {
    const free = slots.get(queueId) ?? 0;
    return { queueId, free, last: lastTurns[index] ?? 0, plain: plains[index] ?? 0 };
  });
  const gates = unlocked(session, keys).map((flow) => gateOf(session, flow));
  const ofFlows = gates.flatMap(({ key, places, permits, ordered }): Lane[] =>
    // Another statement claims the tasks of an ordered flow.
    asked.flatMap(({ queueId, free }) => {
      if (ordered || !queueIds[keys.indexOf(key)]?.includes(queueId)) return [];
      return laneOf(session, { flow: key, queueId, most: Math.min(places, permits, free, limit) }, filter);
    }),
  );
  const plain = asked.flatMap(({ queueId, free, plain: most }) =>
    laneOf(session, { flow: null, queueId, most: Math.min(most, free) }, filter),
  );
  const mayStart = gates.flatMap(({ key, places, permits }) =>
    byTurn(ofFlows.filter(({ flow }) => flow === key).flatMap(({ due }) => due)).slice(
      0,
      Math.min(places, permits),
    ),
  );
  const inTurn = byTurn([...mayStart, ...plain.flatMap(({ due }) => due)]);
  const first = withSlots(inTurn, slots).filter((task) => {
    const last = asked.find(({ queueId }) => queueId === task.queue_id)?.last ?? 0;
    return turn(task) <= last;
  });
  const chosen = first.slice(0, limit);
  for (const { key } of gates) takeLock(session, `flow ${key}`);
  write(session, () => {
    for (const gate of gates) clean(session, gate);
  });
  const claimed = claimRows(session, chosen, workerId);
  const lanes = [...ofFlows, ...plain].map((lane) => leftIn(lane, chosen));
  return answer(session, { keys, slots, states: gates.map(limitsOf), lanes }, claimed);
}

function claimFlowLines(session: Session, values: readonly unknown[], filter: Filter): object[] {
  const { tables } = session;
  const workerId = numberAt(values, 2);
  const slots = slotsOf(session, values);
  const keys = arrayAt<string>(values, 6);
  const flows = unlocked(session, keys);
  const states: object[] = [];
  const heads: TaskColumns[] = [];
  const held = new Map<string, TaskColumns[]>();
  for (const flow of flows) {
    const { key } = flow;
    takeLock(session, `flow ${key}`);
    const line = tables.flowLines.get(key);
    if (!flow.ordered || line === undefined) {
      states.push({ key, kind: flow.ordered ? "unopened" : "unordered" });
      continue;
    }
    const gate = gateOf(session, { ...flow, concurrency: null });
    const holding = holders(session, line.begun, false);
    held.set(key, holding);
    states.push({ ...stateOf(gate), isHeld: holding.length > 0 });
    const head = gate.permits > 0 ? firstOfLine(session, key, holding) : undefined;
    if (head === undefined) continue;
    heads.push(head);
    const queue = tables.queues.get(head.queue_id);
    states.push({
      key,
      headId: head.id,
      headQueueId: queue?.id,
      headQueue: queue?.name,
      headTurn: turn(head),
    });
    if (flow.period !== null) write(session, () => clean(session, gate));
  }
  const lastTurns = new Map(
    arrayAt<number>(values, 3).map((queueId, index) => [queueId, arrayAt<number>(values, 8)[index] ?? 0]),
  );
  const free = heads.filter((task) => !isTaskLocked(session, task.id) && filter(session, task));
  // The claim takes out a head that may not begin; it holds the line all the same.
  const stopped = heads.filter((task) => slots.has(task.queue_id) && !filter(session, task));
  const heldBack = takeOut(session, stopped);
  const first = withSlots(byTurn(free), slots).filter(
    (head) => turn(head) <= (lastTurns.get(head.queue_id) ?? 0),
  );
  const chosen = first.slice(0, numberAt(values, 7));
  const claimed = claimRows(session, chosen, workerId);
  for (const [key, holding] of held) {
    const begun = new Map(holding.map(({ id }) => [id, tables.flowLines.get(key)?.begun.get(id) ?? 0]));
    for (const { id, flow, retries } of [...claimed, ...heldBack]) if (flow === key) begun.set(id, retries);
    write(session, () => tables.flowLines.set(key, { isOpen: true, begun }));
  }
  return answer(session, { keys, slots, states }, byTurn(claimed));
}

/** The due tasks of a flow in a queue that a claim finds, or those without a flow, at most so many. */
interface Lane {
  readonly flow: string | null;
  readonly queueId: number;
  readonly due: readonly TaskColumns[];
  readonly most: number;
}

/** No lane if nothing is found. */
function laneOf(session: Session, { flow, queueId, most }: Omit<Lane, "due">, filter: Filter): Lane[] {
  const { tables, nowMs } = session;
  const due = [...tables.tasks.values()].filter(
    (task) =>
      task.status === "pending" &&
      !task.sandbox &&
      task.flow === flow &&
      task.queue_id === queueId &&
      canStart(task, nowMs) &&
      !isTaskLocked(session, task.id) &&
      filter(session, task),
  );
  const found = byTurn(due).slice(0, most);
  return found.length === 0 ? [] : [{ flow, queueId, due: found, most }];
}

function leftIn({ flow, queueId, due, most }: Lane, chosen: readonly TaskColumns[]): object {
  const next = due.find(({ id }) => chosen.every((task) => task.id !== id));
  const last = due.length < most ? undefined : due.at(-1);
  const known = next ?? last;
  return { flow, queueId, found: due.length, next: known === undefined ? null : turn(known) };
}

function turn({ priority, run_at }: TaskColumns): number {
  return turnOf({ priority, runAt: new Date(run_at) });
}

function canStart({ run_at, deadline_at, is_held }: TaskColumns, nowMs: number): boolean {
  return run_at <= nowMs && !is_held && (deadline_at === null || deadline_at > nowMs);
}

/** The flows that no other claim has locked. */
function unlocked(session: Session, keys: readonly string[]): FlowColumns[] {
  return keys.flatMap((key) => (isFlowLocked(session, key) ? [] : (session.tables.flows.get(key) ?? [])));
}

/** The flow whose line a transaction begins. */
const opening = new WeakMap<Transaction, string>();

/** The tasks of the flow's line that have begun; null if the line has not begun. */
function lineOf(session: Session, key: string): ReadonlyMap<string, number> | null {
  const { tables, transaction } = session;
  const line = tables.flowLines.get(key);
  if (line !== undefined) return line.begun;
  return transaction !== null && opening.get(transaction) === key ? begunOfFlow(session, key) : null;
}

function begunOfFlow(session: Session, key: string): Map<string, number> {
  return begunOf(session, (task) => task.flow === key && (isUnderWay(task) || isBetweenAttempts(task)));
}

/** Claims the first task of an ordered queue with the commit, unless another transaction has locked it. */
function claimHead(session: Session, values: readonly unknown[], id: string): TaskColumns[] {
  const { tables, nowMs } = session;
  const task = tables.tasks.get(id);
  const free = slotsOf(session, values).get(task?.queue_id ?? 0) ?? 0;
  const isDue = task?.status === "pending" && task.run_at <= nowMs && !task.is_held;
  const isLate = task !== undefined && task.deadline_at !== null && task.deadline_at <= nowMs;
  if (!isDue || isLate || free === 0 || isTaskLocked(session, id)) return [];
  takeLock(session, `task ${id}`);
  const workerId = numberAt(values, 2);
  write(session, (place) => {
    const line = tables.lines.get(task.queue_id);
    const begun = new Map([...(line?.begun ?? []), [id, task.retries] as const]);
    tables.lines.set(task.queue_id, { isOpen: true, begun });
    claimRow(session, task, workerId, place);
  });
  return [{ ...task, ...started(task, workerId, nowMs) }];
}

/** The slots that are valid, by queue. */
function slotsOf({ tables }: Session, values: readonly unknown[]): ReadonlyMap<number, number> {
  const workerId = numberAt(values, 2);
  const epochs = arrayAt<number>(values, 4);
  const frees = arrayAt<number>(values, 5);
  return new Map(
    arrayAt<number>(values, 3).flatMap((id, index) =>
      tables.queues.get(id)?.epoch === epochs[index] && tables.workers.has(workerId)
        ? [[id, frees[index] ?? 0] as const]
        : [],
    ),
  );
}

/** The first tasks of each queue, as many as the queue has slots. */
function withSlots(tasks: readonly TaskColumns[], slots: ReadonlyMap<number, number>): TaskColumns[] {
  const left = new Map(slots);
  return tasks.filter(({ queue_id }) => {
    const free = left.get(queue_id) ?? 0;
    left.set(queue_id, free - 1);
    return free > 0;
  });
}

function stateOf({ key, permits, period, permitMs }: Omit<Gate, "places">): object {
  return { key, isPaused: false, isPausedForGood: false, pausedMs: null, permits, period, permitMs };
}

/** The state of a flow in the answer to a claim that starts nothing of an ordered flow. */
function limitsOf({ places, ...gate }: Gate): object {
  const isOrdered = gate.ordered === true;
  return { ...stateOf(gate), isPaused: isOrdered, isOrdered, places, hold: null, kept: 0 };
}

function answer(
  { tables }: Session,
  {
    keys,
    slots,
    states,
    lanes = [],
  }: {
    readonly keys: readonly string[];
    readonly slots: ReadonlyMap<number, number>;
    readonly states: readonly object[];
    readonly lanes?: readonly object[];
  },
  claimed: readonly TaskColumns[],
): object[] {
  const found = {
    isTask: false,
    flows: states.length === 0 ? null : states,
    lanes: lanes.length === 0 ? null : lanes,
    unknown: unlessNone(keys.filter((key) => !tables.flows.has(key))),
    currentQueueIds: [...slots.keys()],
    id: null,
  };
  const tasks = claimed.map((row) => ({
    isTask: true,
    ...pickColumns(row, [...CLAIMED, "flow"]),
    queueId: row.queue_id,
    runAt: new Date(row.run_at),
    scheduledFor: row.scheduled_for === null ? null : new Date(row.scheduled_for),
    attemptStartedAt: new Date(row.attempt_started_at ?? 0),
  }));
  // The left join of the statement also returns a row without a task.
  return [found, ...(tasks.length === 0 ? [{ isTask: true, id: null }] : tasks)];
}

/** The task that may start next in the line of a flow. */
function firstOfLine(session: Session, key: string, held: readonly TaskColumns[]): TaskColumns | undefined {
  const { nowMs, model } = session;
  if (held.length > 0 && model.plant !== "flow-line-not-held") {
    const [head] = held;
    return head !== undefined && held.every(({ status }) => status === "pending") && canStart(head, nowMs)
      ? head
      : undefined;
  }
  const due = pendingOfFlows(session).filter((task) => task.flow === key && canStart(task, nowMs));
  return byCreation(due)[0];
}

/** The first of these tasks in each flow and queue. */
function firstOfLanes(tasks: readonly TaskColumns[]): TaskColumns[] {
  const lanes = new Map<string, TaskColumns>();
  for (const task of byTurn(tasks).reverse()) lanes.set(`${task.flow} ${task.queue_id}`, task);
  return [...lanes.values()];
}

interface Gate extends FlowColumns {
  readonly held: number;
  readonly places: number;
  readonly permits: number;
  readonly permitMs: number | null;
}

function gateOf(session: Session, flow: FlowColumns): Gate {
  const { tables, clockMs, model } = session;
  const { key, concurrency, rate, period } = flow;
  const holds = holdsOf(session, key);
  const since = clockMs - (period ?? 0) * 1_000;
  const begun = [
    ...[...(tables.permits.get(key) ?? [])].filter(([at]) => at > since),
    ...holds.flatMap(({ permit_at }): [number, number][] =>
      permit_at !== null && permit_at > since ? [[permit_at, 1]] : [],
    ),
  ];
  const count = rate === null ? 0 : begun.reduce((sum, [, each]) => sum + each, 0);
  const live = holds.filter((hold) => isLive(session, hold)).length;
  const used = concurrency !== null && holds.length < concurrency ? holds.length : live;
  const permitMs = rate === null || begun.length === 0 ? null : Math.min(...begun.map(([at]) => at)) - since;
  return {
    ...flow,
    held: holds.length,
    places: concurrency === null || model.plant === "no-places" ? UNLIMITED : Math.max(0, concurrency - used),
    permits: rate === null || model.plant === "no-permits" ? UNLIMITED : Math.max(0, rate - count),
    permitMs,
  };
}

/** Deletes what no longer counts. */
function clean(session: Session, { key, concurrency, period, held }: Gate): void {
  const { tables, clockMs } = session;
  if (concurrency !== null && held >= concurrency)
    for (const hold of holdsOf(session, key)) {
      if (isLive(session, hold)) continue;
      if (hold.permit_at !== null) countPermit(session, key, hold.permit_at);
      tables.holds.delete(`${hold.task_id} ${hold.fence}`);
    }
  const permits = tables.permits.get(key);
  if (permits === undefined || period === null) return;
  for (const at of [...permits.keys()]) if (at <= clockMs - period * 1_000) permits.delete(at);
}

export function holdsOf({ tables }: Session, key: string): HoldColumns[] {
  return [...tables.holds.values()].filter(({ flow }) => flow === key);
}

function isLive({ tables }: Session, { task_id, fence }: HoldColumns): boolean {
  const task = tables.tasks.get(task_id);
  return task?.status === "active" && task.fence === fence;
}

/** What it takes is told in one place among the events. */
function claimRows(session: Session, rows: readonly TaskColumns[], workerId: number): TaskColumns[] {
  for (const { id } of rows) takeLock(session, `task ${id}`);
  if (rows.length > 0)
    write(session, (place) => {
      for (const row of rows) claimRow(session, row, workerId, place);
    });
  return rows.map((row) => ({ ...row, ...started(row, workerId, session.nowMs) }));
}

function claimRow(session: Session, row: TaskColumns, workerId: number, place: EventPlace | null): void {
  const { tables, nowMs, clockMs } = session;
  const claimed = changeTask(session, row, started(row, workerId, nowMs), place);
  const key = claimed.flow;
  if (key === null) return;
  const isRated = tables.flows.get(key)?.rate !== null;
  const permit_at = isRated ? clockMs + PERMIT_MS : null;
  tables.holds.set(`${claimed.id} ${claimed.fence}`, {
    flow: key,
    task_id: claimed.id,
    fence: claimed.fence,
    permit_at,
  });
}

function toldHolds(
  { tables, nowMs }: Session,
  values: readonly unknown[],
): { readonly hold: HoldColumns; readonly toldAt: number }[] {
  const fences = arrayAt<number>(values, 4);
  const ages = arrayAt<number | null>(values, 5);
  return arrayAt<string>(values, 3).flatMap((id, index) => {
    const hold = tables.holds.get(`${id} ${fences[index]}`);
    const age = ages[index] ?? null;
    return hold === undefined
      ? []
      : [{ hold, toldAt: age === null ? Number.POSITIVE_INFINITY : nowMs - age }];
  });
}

/** A claim of an ordered queue that is under way may have changed the places and permits of these flows. */
function waitForFlows({ model, transaction }: Session, values: readonly unknown[]): void {
  for (const key of arrayAt<string>(values, 2)) requireUnlocked(model, transaction, `flow ${key}`);
}

/** Rounded up to a thousandth of the period. */
function countPermit({ tables }: Session, key: string, at: number): void {
  const period = tables.flows.get(key)?.period ?? 1;
  const counts = tables.permits.get(key) ?? new Map<number, number>();
  tables.permits.set(key, counts);
  const rounded = Math.floor(at / period) * period + period;
  counts.set(rounded, (counts.get(rounded) ?? 0) + 1);
}

/** `json_agg` of no rows. */
function unlessNone(keys: readonly string[]): readonly string[] | null {
  return keys.length === 0 ? null : keys;
}
