import { Problem } from "../../domain/problem.ts";
import { sliceMember } from "../../domain/raw-json.ts";
import { formatTaskId, parseTaskId } from "../../service/task-id.ts";
import type { TaskQuery, TaskService } from "../../service/task-service.ts";
import { callerOf } from "../auth-hook.ts";
import { broken, invalid, unlike } from "../complaint.ts";
import { readIntegers } from "../query-integers.ts";
import { queueNotFound } from "../queue-lookup.ts";
import type { Api } from "../schema-types.ts";
import { BODY_REFUSALS, refusals } from "../schemas/error.ts";
import { ref } from "../schemas/field.ts";
import { isQueueName } from "../schemas/queue-name.ts";
import { CreatedTask, DeletedTask, Task, TaskList } from "../schemas/task-record.ts";
import { CreateTask, TaskListQuery, TaskPath } from "../schemas/task-request.ts";
import { createdView, readTask, recordText, summaryView } from "../shape-a.ts";

const tags = ["Tasks"];

export function registerTaskRoutes(app: Api, tasks: TaskService): void {
  app.post(
    "/tasks",
    {
      schema: {
        operationId: "createTask",
        tags,
        summary: "Create a task",
        description: "Accepts one HTTP call to be made later. Once answered 201, the task is on disk.",
        body: ref(CreateTask),
        response: {
          201: ref(CreatedTask),
          ...refusals("vault_token_unknown", "queue_not_found", ...BODY_REFUSALS),
        },
      },
    },
    async (request, reply) => {
      const { body } = request;
      const payload = body.payload === undefined ? undefined : sliceMember(request.bodyText, "payload");
      const wanted = readTask(body, payload, new Date());
      if (!isQueueName(wanted.queue)) throw queueNotFound(wanted.queue);
      const task = await tasks.create(callerOf(request), wanted);
      reply.code(201);
      return createdView(task);
    },
  );

  app.get(
    "/tasks",
    {
      preValidation: readIntegers("limit", "offset"),
      schema: {
        operationId: "listTasks",
        tags,
        summary: "List tasks",
        description: "The team's tasks, newest first.",
        querystring: TaskListQuery,
        response: { 200: ref(TaskList), ...refusals() },
      },
    },
    async (request): Promise<TaskList> => {
      const query = readListQuery(request.query);
      const page = await tasks.list(callerOf(request), query);
      return {
        tasks: page.tasks.map(summaryView),
        pagination: {
          total: page.total,
          limit: query.limit,
          offset: query.offset,
          hasMore: page.hasMore,
          nextCursor: page.nextCursor === null ? null : formatTaskId(page.nextCursor),
        },
      };
    },
  );

  app.get(
    "/tasks/:task_id",
    {
      schema: {
        operationId: "getTask",
        tags,
        summary: "Get a task",
        description: "The record of a task with its payload and every attempt.",
        params: TaskPath,
        response: { 200: ref(Task), ...refusals("task_not_found") },
      },
    },
    async (request, reply) => {
      const task = await tasks.get(callerOf(request), readTaskId(request.params.task_id));
      return reply.type("application/json; charset=utf-8").send(recordText(task));
    },
  );

  app.delete(
    "/tasks/:task_id",
    {
      schema: {
        operationId: "deleteTask",
        tags,
        summary: "Delete a pending task",
        description: "Only a pending task can be deleted.",
        params: TaskPath,
        response: { 200: ref(DeletedTask), ...refusals("task_not_found", "task_not_pending") },
      },
    },
    async (request) => {
      const id = readTaskId(request.params.task_id);
      await tasks.remove(callerOf(request), id);
      return { id: formatTaskId(id), deleted: true };
    },
  );
}

/** What cannot be an id is nobody's: the same answer as for an unknown one. */
function readTaskId(text: string): string {
  const id = parseTaskId(text);
  if (id === null) throw new Problem("task_not_found");
  return id;
}

function readListQuery(query: TaskListQuery): TaskQuery {
  const { queue = null, status = null, limit = 20, offset = 0 } = query;
  if (query.cursor === undefined) return { queue, status, limit, offset, cursor: null };
  if (query.offset !== undefined) throw invalid([unlike("cursor", "offset")]);
  const cursor = parseTaskId(query.cursor);
  if (cursor === null) throw invalid([broken("cursor", "the nextCursor of a page")]);
  return { queue, status, limit, offset, cursor };
}
