import type { Principal } from "../domain/principal.ts";
import { Problem } from "../domain/problem.ts";
import type { NewTask, Task, TaskStatus, TaskSummary } from "../domain/task.ts";
import type { Sql } from "../store/sql.ts";
import type { Accepted } from "../store/task-intake.ts";
import { countTasks, findTask, listTasks } from "../store/task-reads.ts";
import { removePendingTask, taskStatus } from "../store/task-removals.ts";
import { newTaskUuid } from "./task-id.ts";

export type TaskRequest = Omit<NewTask, "teamId" | "id" | "sandbox">;

export interface CreatedTask {
  readonly id: string;
  readonly queue: string;
  readonly priority: number;
  readonly delaySeconds: number;
  readonly createdAt: Date;
}

export interface TaskQuery {
  readonly queue: string | null;
  readonly status: TaskStatus | null;
  readonly limit: number;
  readonly offset: number;
  /** The id of a task: only older ones are listed. */
  readonly cursor: string | null;
}

export interface TaskPage {
  readonly tasks: readonly TaskSummary[];
  readonly total: number;
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
}

export interface TaskService {
  create(principal: Principal, request: TaskRequest): Promise<CreatedTask>;
  get(principal: Principal, id: string): Promise<Task>;
  list(principal: Principal, query: TaskQuery): Promise<TaskPage>;
  remove(principal: Principal, id: string): Promise<void>;
}

export function createTaskService(deps: {
  readonly sql: Sql;
  readonly nodeId: () => number;
  /** Resolves once the task is on disk; null if its queue does not exist. */
  readonly submit: (task: NewTask) => Promise<Accepted | null>;
}): TaskService {
  const { sql } = deps;
  return {
    async create({ teamId, environment }, request) {
      const id = newTaskUuid();
      const accepted = await deps.submit({ ...request, teamId, id, sandbox: environment === "test" });
      if (accepted === null) throw new Problem("queue_not_found", { name: request.queue });
      const waitMs = accepted.runAt.getTime() - accepted.createdAt.getTime();
      return {
        id,
        queue: request.queue,
        priority: request.priority,
        delaySeconds: request.runAt === null ? request.delaySeconds : Math.max(0, Math.ceil(waitMs / 1000)),
        createdAt: accepted.createdAt,
      };
    },
    async get({ teamId }, id) {
      const task = await findTask(sql, teamId, id);
      if (task === null) throw new Problem("task_not_found");
      return task;
    },
    async list({ teamId }, { queue, status, limit, offset, cursor }) {
      const filter = { teamId, queue, status };
      const [found, total] = await Promise.all([
        // One more than asked for tells whether there is a next page.
        listTasks(sql, filter, { limit: limit + 1, offset, before: cursor }),
        countTasks(sql, filter),
      ]);
      const tasks = found.slice(0, limit);
      const hasMore = found.length > limit;
      return { tasks, total, hasMore, nextCursor: hasMore ? (tasks.at(-1)?.id ?? null) : null };
    },
    async remove({ teamId }, id) {
      if (await removePendingTask(sql, teamId, id, deps.nodeId())) return;
      const status = await taskStatus(sql, teamId, id);
      if (status === null) throw new Problem("task_not_found");
      throw new Problem("task_not_pending", { status });
    },
  };
}
