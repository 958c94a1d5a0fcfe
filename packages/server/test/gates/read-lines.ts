import type { InLine } from "../../src/domain/gate/gate.ts";
import type { FlowRow, QueueRow, TaskRow, TeamTables } from "./team-tables.ts";

/* Who holds a line, and who is first in it, read from the rows. */

export function isOpenLine(rows: TeamTables, queueId: number): boolean {
  return rows.queue_lines.some(({ queue_id }) => queue_id === queueId);
}

/** A task with a flow has come due later than it was created, or was retried by hand, and the line has not looked since. */
export function hasComeDue(rows: TeamTables, queueId: number, tasks: ReadonlyMap<string, TaskRow>): boolean {
  const line = rows.line_tasks;
  return line.some((row) => {
    const isRetried = row.begun && tasks.get(row.task_id)?.retries !== row.retries;
    return row.queue_id === queueId && (isRetried || (row.retries < 0 && row.created_at <= 0));
  });
}

export function queueHolders(
  rows: TeamTables,
  { id, on_failure }: QueueRow,
  tasks: ReadonlyMap<string, TaskRow>,
): InLine[] {
  const line = rows.line_tasks.filter(({ queue_id }) => queue_id === id);
  const begun = new Map(line.filter((row) => row.begun).map(({ task_id, retries }) => [task_id, retries]));
  // A line that begins: all that has begun by then holds it.
  if (!isOpenLine(rows, id))
    for (const task of tasks.values())
      if (task.queue_id === id && !task.sandbox && hasBegun(task)) begun.set(task.id, task.retries);
  return holdersOf(begun, tasks, on_failure === "block", (task) => task.queue_id === id, true);
}

export function flowHolders(rows: TeamTables, flow: FlowRow, tasks: ReadonlyMap<string, TaskRow>): InLine[] {
  const { key, line_at, on_failure } = flow;
  const isOpen = line_at !== null;
  const line = rows.flow_line_tasks.filter((row) => row.flow === key && isOpen);
  const begun = new Map(line.map(({ task_id, retries }) => [task_id, retries]));
  const held = new Set(rows.flow_holds.map(({ task_id }) => task_id));
  if (!isOpen)
    for (const task of tasks.values())
      if (task.flow === key && !task.sandbox && hasBegun(task))
        if (task.status !== "active" || held.has(task.id)) begun.set(task.id, task.retries);
  return holdersOf(begun, tasks, on_failure === "block", (task) => task.flow === key, false);
}

function hasBegun({
  status,
  attempt_count,
  retries,
  failures,
  interruptions,
  due_at,
  flow_due_at,
}: TaskRow): boolean {
  if (status !== "pending") return status === "active" || status === "waiting" || status === "polling";
  const isFindable = due_at !== null || flow_due_at !== null;
  return isFindable && ((attempt_count > 0 && retries === 0) || failures > 0 || interruptions > 0);
}

/** Of the tasks that have begun, those that hold the line. `begun`: how often a user had retried each by then. */
function holdersOf(
  begun: ReadonlyMap<string, number>,
  tasks: ReadonlyMap<string, TaskRow>,
  blocks: boolean,
  isMember: (task: TaskRow) => boolean,
  othersHold: boolean,
): InLine[] {
  const holding = [...begun].flatMap(([id, retries]) => {
    const task = tasks.get(id);
    if (task === undefined || (!othersHold && !isMember(task))) return [];
    return holds(task, retries, blocks && isMember(task)) ? [task] : [];
  });
  return byCreation(holding).map((task) => ({
    id: task.id,
    status: task.status,
    isElsewhere: !isMember(task),
  }));
}

function holds(task: TaskRow, retries: number, blocks: boolean): boolean {
  const { status, failure_reason, dismissed_at } = task;
  if (status === "pending") return task.retries === retries || blocks;
  if (status === "failed") return blocks && failure_reason !== "expired" && dismissed_at === null;
  return status === "active" || status === "waiting" || status === "polling";
}

export function firstOf(due: readonly TaskRow[]): InLine | null {
  const [first] = byCreation(due);
  return first === undefined ? null : { id: first.id, status: first.status };
}

function byCreation(tasks: readonly TaskRow[]): TaskRow[] {
  return [...tasks].sort((one, other) => one.created_at - other.created_at || (one.id < other.id ? -1 : 1));
}

/** Whether the line of a queue waits for a flow. */
export function flowOf(
  first: InLine | null,
  tasks: ReadonlyMap<string, TaskRow>,
): { readonly flow?: string } {
  const flow = first === null ? null : (tasks.get(first.id)?.flow ?? null);
  return flow === null ? {} : { flow };
}
