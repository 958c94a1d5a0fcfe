import { HOSTS, type Team, type TestFlow, type TestQueue, type TestTask } from "./random-team.ts";

/*
 * The rows of a team, as the product would have written them. Times are milliseconds from the instant of the claims.
 */

export interface TeamRows {
  readonly teamId: number;
  readonly team: Team;
}

export const TABLES = {
  queues: `id bigint, name text, concurrency integer, paused boolean, ordered boolean, on_failure text, rate integer, rate_period integer,
    holds_hosts boolean, breaker jsonb`,
  queue_slots: "queue_id bigint, worker_id bigint, slots integer",
  queue_permits: "queue_id bigint, at float8, count integer",
  queue_lines: "queue_id bigint, looked_at float8",
  breakers: "queue_id bigint, host text, phase text, until float8",
  flows: `key text, is_stored boolean, concurrency integer, rate integer, period integer, ordered boolean, on_failure text, hold text,
    task_concurrency integer, task_rate integer, task_period integer, task_ordered boolean, paused boolean, paused_until float8, line_at float8`,
  flow_permits: "flow text, at float8, count integer",
  flow_holds: "flow text, task_id uuid, fence integer, permit_at float8",
  flow_line_tasks: "flow text, task_id uuid, retries integer",
  line_tasks: "queue_id bigint, created_at float8, task_id uuid, begun boolean, retries integer",
  breaker_tasks:
    "task_id uuid, queue_id bigint, host text, priority integer, due_at float8, fence integer, passed_at float8",
  claim_batches: "worker_id bigint, task_ids uuid[]",
  tasks: `id uuid, queue_id bigint, flow text, status text, priority integer, sandbox boolean, url text, run_at float8, created_at float8,
    deadline_at float8, completed_at float8, fence integer, worker_id bigint, attempt_count integer, attempt_started_at float8,
    failures integer, interruptions integer, retries integer, failure_reason text, dismissed_at float8, due_at float8,
    flow_due_at float8, poll_at float8, list_key text`,
} as const;
export type Table = keyof typeof TABLES;

export type Rows = Record<Table, Record<string, unknown>[]>;

/** The statement of a line that makes a task due commits within this time. */
const OVERLAP = 5_000;

export function rowsOf(teamId: number, team: Team, busyWorkerId: number): Rows {
  const rows = Object.fromEntries(Object.keys(TABLES).map((table) => [table, []])) as unknown as Rows;
  const add = (table: Table, row: Record<string, unknown>) => {
    rows[table].push({ team_id: teamId, ...row });
  };
  for (const [index, queue] of team.queues.entries())
    addQueue(add, queueIdOf(teamId, index), queue, index, busyWorkerId);
  for (const [index, flow] of team.flows.entries()) addFlow(add, flow, keyOf(index));
  for (const [index, task] of team.tasks.entries()) addTask(add, teamId, team, task, index, busyWorkerId);
  return rows;
}

export const queueIdOf = (teamId: number, index: number) => teamId * 10 + index;
export const keyOf = (index: number) => `flow-${index}`;
export const taskIdOf = (teamId: number, index: number) =>
  `00000000-0000-7000-8000-${teamId.toString(16).padStart(8, "0")}${index.toString(16).padStart(4, "0")}`;

type Add = (table: Table, row: Record<string, unknown>) => void;

function addQueue(add: Add, id: number, queue: TestQueue, index: number, busyWorkerId: number): void {
  const { concurrency, elsewhere, paused, ordered, onFailure, rate, period, lookedAt } = queue;
  const breakers = queue.breakers.flatMap((breaker, host) => (breaker === null ? [] : [{ breaker, host }]));
  add("queues", {
    id,
    name: `queue-${index}`,
    concurrency: ordered ? 1 : concurrency,
    paused,
    ordered,
    on_failure: ordered ? onFailure : "continue",
    rate,
    rate_period: rate === null ? null : period,
    holds_hosts: breakers.length > 0,
    breaker: breakers.length > 0 ? {} : null,
  });
  if (elsewhere > 0) add("queue_slots", { queue_id: id, worker_id: busyWorkerId, slots: elsewhere });
  const counts = new Map(queue.permits.map(({ fromEdge, count }) => [fromEdge, count]));
  for (const [fromEdge, count] of counts)
    add("queue_permits", { queue_id: id, at: fromEdge - period * 1_000, count });
  if (ordered && lookedAt !== null) add("queue_lines", { queue_id: id, looked_at: lookedAt });
  for (const { breaker, host } of breakers) add("breakers", { queue_id: id, host: HOSTS[host], ...breaker });
}

function addFlow(add: Add, flow: TestFlow, key: string): void {
  const { stored, carried, onFailure, hold, paused, pausedUntil, lineAt } = flow;
  const counts = new Map(flow.permits.map(({ fromEdge, count }) => [fromEdge, count]));
  for (const [fromEdge, count] of counts)
    add("flow_permits", { flow: key, at: fromEdge - periodOf(flow) * 1_000, count });
  add("flows", {
    key,
    is_stored: true,
    concurrency: stored.concurrency,
    rate: stored.rate,
    period: stored.rate === null ? null : stored.period,
    ordered: stored.ordered,
    on_failure: stored.ordered ? onFailure : null,
    hold,
    task_concurrency: carried.concurrency,
    task_rate: carried.rate,
    task_period: carried.rate === null ? null : carried.period,
    task_ordered: carried.ordered,
    paused,
    paused_until: pausedUntil,
    line_at: isOrdered(flow) ? lineAt : null,
  });
}

function isOrdered({ stored, carried }: TestFlow): boolean {
  return stored.ordered ?? carried.ordered ?? false;
}

function periodOf({ stored, carried }: TestFlow): number {
  return stored.rate === null ? carried.period : stored.period;
}

/** What each life of a task leaves in its row. */
const LIFE = {
  new: { status: "pending", attempts: 0, failures: 0, interruptions: 0, reason: null },
  "backing off": { status: "pending", attempts: 1, failures: 1, interruptions: 0, reason: null },
  returned: { status: "pending", attempts: 1, failures: 0, interruptions: 1, reason: null },
  "retried by hand": { status: "pending", attempts: 1, failures: 0, interruptions: 0, reason: null },
  active: { status: "active", attempts: 1, failures: 0, interruptions: 0, reason: null },
  waiting: { status: "waiting", attempts: 1, failures: 0, interruptions: 0, reason: null },
  polling: { status: "polling", attempts: 1, failures: 0, interruptions: 0, reason: null },
  failed: { status: "failed", attempts: 1, failures: 1, interruptions: 0, reason: "retries_exhausted" },
  expired: { status: "failed", attempts: 1, failures: 1, interruptions: 0, reason: "expired" },
  dismissed: { status: "failed", attempts: 1, failures: 1, interruptions: 0, reason: "retries_exhausted" },
  completed: { status: "completed", attempts: 1, failures: 0, interruptions: 0, reason: null },
  cancelled: { status: "cancelled", attempts: 1, failures: 0, interruptions: 0, reason: "cancelled" },
} as const satisfies Record<TestTask["life"], object>;

function addTask(
  add: Add,
  teamId: number,
  team: Team,
  task: TestTask,
  index: number,
  busyWorkerId: number,
): void {
  const { life, priority, createdAt, sandbox } = task;
  const id = taskIdOf(teamId, index);
  const queueIndex = task.queue % team.queues.length;
  const queue = team.queues[queueIndex] as TestQueue;
  const queueId = queueIdOf(teamId, queueIndex);
  const flowIndex = task.flow === null || team.flows.length === 0 ? null : task.flow % team.flows.length;
  const flow = flowIndex === null ? null : (team.flows[flowIndex] as TestFlow);
  const key = flowIndex === null ? null : keyOf(flowIndex);
  const { status, attempts, failures, interruptions, reason } = LIFE[life];
  const isPending = status === "pending";
  const isEnded = status === "failed" || status === "completed" || status === "cancelled";
  // A task retried by hand has been retried once more than its place in a line says, unless it blocked the line.
  const former =
    task.formerFlow === null || team.flows.length === 0 ? flowIndex : task.formerFlow % team.flows.length;
  const hasFormer = former !== null && former !== flowIndex && attempts > 0;
  const retries = life === "retried by hand" || hasFormer ? 1 : 0;
  const fence = attempts * 2;
  const runAt = isPending ? Math.max(createdAt, task.dueAt ?? createdAt) : createdAt;
  const isDue = isPending && runAt <= 0;
  const host = HOSTS[task.host] as string;
  const breaker = queue.breakers[task.host] ?? null;
  // In an ordered queue no task waits aside.
  const pass = breaker === null || queue.ordered || !isDue || sandbox ? "none" : task.pass;
  const isAside = pass === "aside";
  // What a line has looked at since it came due is in the line at the place of its creation.
  const isMoved =
    flow !== null && isOrdered(flow) && isDue && runAt > createdAt && isSeenBy(flow.lineAt, runAt, task);
  const isFindable = isPending && !sandbox && !isAside;
  add("tasks", {
    id,
    queue_id: queueId,
    flow: key,
    status,
    priority,
    sandbox,
    url: `https://${host}/call`,
    run_at: runAt,
    created_at: createdAt,
    deadline_at: status === "waiting" || status === "polling" ? 60_000 : isPending ? task.deadlineAt : null,
    completed_at: isEnded ? -100 : null,
    fence,
    worker_id: status === "active" && !sandbox ? busyWorkerId : null,
    attempt_count: attempts,
    attempt_started_at: status === "active" ? -200 : null,
    failures,
    interruptions,
    retries,
    failure_reason: reason,
    dismissed_at: life === "dismissed" ? -50 : null,
    due_at: isFindable && key === null ? runAt : null,
    flow_due_at: isFindable && key !== null ? (isMoved ? createdAt : runAt) : null,
    poll_at: status === "polling" && !sandbox ? runAt : null,
    list_key: (status === "active" || status === "completed") && !sandbox ? "begun" : status,
  });
  if (sandbox) return;
  if (status === "active") add("claim_batches", { worker_id: busyWorkerId, task_ids: [id] });
  if (pass !== "none")
    add("breaker_tasks", {
      task_id: id,
      queue_id: queueId,
      host,
      priority,
      due_at: runAt,
      fence: pass === "used" ? fence - 1 : fence,
      passed_at: isAside ? null : -10,
    });
  if (flow !== null && attempts > 0) addPlaces(add, id, fence, flow, key, task);
  // An ordinary retry keeps the place in the line; after one by hand the line may not have looked yet.
  const retriesThen = life === "retried by hand" && task.retriesSince > 0 ? retries - 1 : retries;
  if (flow !== null && attempts > 0 && isOrdered(flow) && task.inFlowLine)
    add("flow_line_tasks", { flow: key, task_id: id, retries: retriesThen });
  if (hasFormer) add("flow_line_tasks", { flow: keyOf(former), task_id: id, retries: 0 });
  if (queue.ordered)
    addToLine(add, { id, queueId, queue, task, runAt, isDue, attempts, retriesThen, isPending, key });
  const callbackOf = task.callbackOf === null ? queueIndex : task.callbackOf % team.queues.length;
  if (callbackOf !== queueIndex && team.queues[callbackOf]?.ordered)
    add("line_tasks", {
      queue_id: queueIdOf(teamId, callbackOf),
      created_at: createdAt,
      task_id: id,
      begun: true,
      retries,
    });
}

/** Whether the line has looked since the task came due: it must have, unless that was at the time of the last look. */
function isSeenBy(lookedAt: number | null, runAt: number, { isSeen }: TestTask): boolean {
  return lookedAt !== null && (runAt <= lookedAt - OVERLAP || isSeen);
}

function addPlaces(
  add: Add,
  id: string,
  fence: number,
  flow: TestFlow,
  key: string | null,
  task: TestTask,
): void {
  const fences = new Map(task.holds.map((hold) => [fence - hold.back, hold.permitFromEdge]));
  for (const [each, fromEdge] of fences)
    add("flow_holds", {
      flow: key,
      task_id: id,
      fence: each,
      permit_at: fromEdge === null ? null : fromEdge - periodOf(flow) * 1_000,
    });
}

interface InLine {
  readonly id: string;
  readonly queueId: number;
  readonly queue: TestQueue;
  readonly task: TestTask;
  readonly runAt: number;
  readonly isDue: boolean;
  readonly isPending: boolean;
  readonly attempts: number;
  readonly retriesThen: number;
  readonly key: string | null;
}

/** One that has begun holds the line; one with a flow is in its record from the start; one that came due late is once the line has looked. */
function addToLine(add: Add, line: InLine): void {
  const { id, queueId, queue, task, runAt, isDue, isPending, attempts, retriesThen, key } = line;
  const { createdAt } = task;
  const row = { queue_id: queueId, task_id: id };
  if (attempts > 0 && task.inQueueLine) {
    add("line_tasks", { ...row, created_at: createdAt, begun: true, retries: retriesThen });
    return;
  }
  if (!isPending) return;
  const isLate = runAt > createdAt;
  const isSeen = isSeenBy(queue.lookedAt, runAt, task);
  if (isDue && (isLate ? isSeen : key !== null))
    add("line_tasks", { ...row, created_at: createdAt, begun: false, retries: 0 });
  else if (key !== null) add("line_tasks", { ...row, created_at: runAt, begun: false, retries: -1 });
}
