import type { Principal } from "../../domain/identity/principal.ts";
import type { CreatedTask, Task } from "../../domain/task.ts";
import type { TaskRequest } from "../../domain/task-copies.ts";
import type { TaskService } from "./task-service.ts";
import type { TaskWaits } from "./task-waits.ts";

export interface Wait {
  readonly seconds: number;
  /** The caller is gone, or the node stops. */
  readonly over: AbortSignal;
}

export interface WaitingService {
  /** The task once it has ended, or the wait has. */
  get(principal: Principal, id: string, wait: Wait): Promise<Task>;
  create(
    principal: Principal,
    request: TaskRequest,
    wait: Wait,
  ): Promise<{ readonly created: CreatedTask; readonly task: Task }>;
}

export function createWaitingService(deps: {
  readonly tasks: Pick<TaskService, "get" | "create">;
  readonly waits: TaskWaits;
}): WaitingService {
  const { tasks, waits } = deps;
  return {
    get: (principal, id, { seconds, over }) =>
      waits.hold(principal.teamId, async (untilEnded) => {
        const task = await tasks.get(principal, id);
        if (task.completedAt !== null) return task;
        await untilEnded({ teamId: principal.teamId, id }, seconds, over);
        return tasks.get(principal, id);
      }),
    create: (principal, request, { seconds, over }) =>
      waits.hold(principal.teamId, async (untilEnded) => {
        const created = await tasks.create(principal, request);
        await untilEnded({ teamId: principal.teamId, id: created.id }, seconds, over);
        return { created, task: await tasks.get(principal, created.id) };
      }),
  };
}
