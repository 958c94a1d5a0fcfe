import type { Candidate } from "../../src/domain/gate/decision.ts";
import { flowGate, type Gate, hostGate, type Limits, NO_LIMITS, OPEN } from "../../src/domain/gate/gate.ts";
import type { ClaimKind } from "./random-team.ts";
import { firstOf, flowHolders, flowOf, hasComeDue, isOpenLine, queueHolders } from "./read-lines.ts";
import { NOW } from "./team-database.ts";
import type { FlowRow, HoldRow, QueueRow, TaskRow, TeamTables } from "./team-tables.ts";

/*
 * The gates of a team and the tasks that wait at them, read from its rows in words of its own: nothing here is a statement of the product.
 */

export interface Waiting extends Candidate {
  readonly queueId: number;
  readonly flow: string | null;
}

const dateAt = (ms: number | null) => (ms === null ? null : new Date(NOW.getTime() + ms));

export interface TeamState {
  readonly queues: readonly QueueRow[];
  /** The tasks that wait to start, each with its gates. */
  readonly waiting: readonly Waiting[];
  /** The gates whose lines have begun, and have looked since the last of their tasks came due. */
  readonly lookedAt: ReadonlySet<string>;
  /** A task is due, but past the time until which it may begin: nobody has ended it yet. */
  readonly hasLate: boolean;
  isOrderedFlow(key: string): boolean;
}

/** `free`: the slots that the worker has in each queue. */
export function readState(rows: TeamTables, free: ReadonlyMap<number, number>): TeamState {
  const tasks = new Map(rows.tasks.map((task) => [task.id, task]));
  const queues = rows.queues;
  const live = [...tasks.values()].filter(({ sandbox }) => !sandbox);
  const due = live.filter(mayStart);
  const queueGates = new Map(queues.map((queue) => [queue.id, queueGateOf(rows, queue, tasks, due, free)]));
  const flows = rows.flows;
  const flowGates = new Map(flows.map((flow) => [flow.key, flowGateOf(rows, flow, tasks, due)]));
  const hostGates = hostGatesOf(rows, queues);
  const waiting = due.map((task): Waiting => {
    const gates = [
      queueGates.get(task.queue_id),
      task.flow === null ? undefined : flowGates.get(task.flow),
      hostGates.get(`${task.queue_id} ${hostOf(task)}`),
    ].filter((gate) => gate !== undefined);
    return {
      id: task.id,
      priority: task.priority,
      dueMs: task.run_at,
      queueId: task.queue_id,
      flow: task.flow,
      gates,
    };
  });
  return {
    queues,
    waiting,
    lookedAt: new Set([
      ...queues
        .filter(({ id }) => isOpenLine(rows, id) && !hasComeDue(rows, id, tasks))
        .map(({ name }) => name),
      ...flows.filter(({ line_at }) => line_at !== null).map(({ key }) => key),
    ]),
    hasLate: live.some(({ deadline_at, run_at }) => deadline_at !== null && deadline_at <= 0 && run_at <= 0),
    isOrderedFlow: (key) => flowGates.get(key)?.limits.ordered ?? false,
  };
}

/** The tasks that a claim of this kind is for. `queueId`: of its one queue. */
export function isFor(kind: ClaimKind, queueId: number, state: TeamState): (task: Waiting) => boolean {
  const isOne = (id: number, which: (queue: QueueRow) => boolean) =>
    state.queues.some((queue) => queue.id === id && which(queue));
  const isUnordered = (id: number) => isOne(id, ({ ordered }) => !ordered);
  switch (kind) {
    case "plain":
      return (task) => task.flow === null && task.queueId === queueId && isUnordered(queueId);
    case "line":
      return (task) => task.queueId === queueId && !isUnordered(queueId);
    case "shared":
      return (task) =>
        task.flow === null &&
        isOne(task.queueId, (queue) => !queue.ordered && queue.rate === null && !queue.holds_hosts);
    case "flows":
      return ({ flow, queueId: id }) => flow !== null && isUnordered(id) && !state.isOrderedFlow(flow);
    case "both":
      return ({ flow, queueId: id }) => isUnordered(id) && (flow === null || !state.isOrderedFlow(flow));
    case "flow lines":
      return ({ flow, queueId: id }) => flow !== null && isUnordered(id) && state.isOrderedFlow(flow);
  }
}

/** Pending, due, not past the time until which it may begin, and not set aside by a circuit breaker. */
function mayStart({ status, run_at, deadline_at, due_at, flow_due_at }: TaskRow): boolean {
  const isFindable = due_at !== null || flow_due_at !== null;
  return status === "pending" && isFindable && run_at <= 0 && (deadline_at === null || deadline_at > 0);
}

function hostOf({ url }: TaskRow): string {
  return new URL(url).host;
}

function queueGateOf(
  rows: TeamTables,
  queue: QueueRow,
  tasks: ReadonlyMap<string, TaskRow>,
  due: readonly TaskRow[],
  free: ReadonlyMap<number, number>,
): Gate {
  const { id, name, concurrency, paused, ordered, on_failure, rate, rate_period } = queue;
  const limits: Limits = {
    ...NO_LIMITS,
    concurrency,
    ordered,
    onFailure: on_failure,
    rate,
    period: rate_period,
  };
  const permits = rows.queue_permits
    .filter(({ queue_id, at }) => queue_id === id && rate !== null && at > -(rate_period ?? 0) * 1_000)
    .reduce((sum, { count }) => sum + count, 0);
  const first = firstOf(due.filter(({ queue_id }) => queue_id === id));
  return {
    ...OPEN,
    kind: "queue",
    name,
    limits,
    pause: paused ? { until: null } : null,
    places: { ...OPEN.places, taken: concurrency - (free.get(id) ?? 0) },
    permits: { taken: permits, nextAt: null },
    line: {
      holders: queueHolders(rows, queue, tasks),
      first: first && { ...first, ...flowOf(first, tasks) },
    },
  };
}

function flowGateOf(
  rows: TeamTables,
  flow: FlowRow,
  tasks: ReadonlyMap<string, TaskRow>,
  due: readonly TaskRow[],
): Gate {
  const { key, on_failure } = flow;
  const rate = flow.rate ?? flow.task_rate;
  const period = flow.rate === null ? flow.task_period : flow.period;
  const hold = flow.hold ?? "call";
  const ordered = flow.ordered ?? flow.task_ordered ?? false;
  const concurrency = flow.concurrency ?? flow.task_concurrency;
  const holds = rows.flow_holds.filter((row) => row.flow === key);
  const taken = new Set(holds.filter((row) => isTaken(row, tasks, hold)).map(({ task_id }) => task_id)).size;
  // A claim that finds places free by this count looks no closer: see flow-claim-statement.ts.
  const seemsFull = concurrency === null || holds.length >= concurrency;
  const since = -(period ?? 0) * 1_000;
  const permits = rows.flow_permits
    .filter((row) => row.flow === key && row.at > since)
    .reduce((sum, { count }) => sum + count, 0);
  const begun = permits + holds.filter(({ permit_at }) => permit_at !== null && permit_at > since).length;
  return flowGate(
    {
      key,
      concurrency,
      rate,
      period,
      ordered,
      hold,
      onFailure: on_failure ?? "continue",
      paused: flow.paused,
      pausedUntil: dateAt(flow.paused_until),
      taken: seemsFull ? taken : holds.length,
      begun,
      nextAt: null,
      holders: ordered ? flowHolders(rows, flow, tasks) : [],
    },
    {
      keptBy: new Set(holds.map(({ task_id }) => task_id)),
      first: firstOf(due.filter((task) => task.flow === key)),
    },
  );
}

function isTaken({ task_id, fence }: HoldRow, tasks: ReadonlyMap<string, TaskRow>, hold: string): boolean {
  const task = tasks.get(task_id);
  if (task === undefined) return false;
  return hold === "task" ? task.completed_at === null : task.status === "active" && task.fence === fence;
}

function hostGatesOf(rows: TeamTables, queues: readonly QueueRow[]): Map<string, Gate> {
  const fences = new Map(rows.tasks.map(({ id, fence }) => [id, fence]));
  /** A pass from before the breaker opened again is void. */
  const passesSince = (until: number) =>
    rows.breaker_tasks
      .filter(({ passed_at }) => passed_at !== null && passed_at >= until)
      .filter(({ task_id, fence }) => fences.get(task_id) === fence)
      .map(({ task_id }) => task_id);
  return new Map(
    rows.breakers.flatMap(({ queue_id, host, phase, until }) => {
      const queue = queues.find(({ id }) => id === queue_id);
      if (!queue?.holds_hosts) return [];
      const state = { host, phase, until: dateAt(until) ?? NOW };
      const passes = new Set(passesSince(until));
      return [
        [`${queue_id} ${host}`, hostGate(state, { isOrdered: queue.ordered, passes, now: NOW })] as const,
      ];
    }),
  );
}
