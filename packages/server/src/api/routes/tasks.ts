import type { FastifyReply, FastifyRequest, preValidationHookHandler } from "fastify";
import type { PollConfig } from "../../domain/poll/poll-config.ts";
import { Problem } from "../../domain/problem.ts";
import { sliceMember } from "../../domain/raw-json.ts";
import { formatTaskId, parseTaskId } from "../../domain/task-id.ts";
import type { ProviderService } from "../../service/tasks/provider-service.ts";
import type { TaskQuery, TaskRequest, TaskService } from "../../service/tasks/task-service.ts";
import { access } from "../http/access.ts";
import { callerOf, requesterOf } from "../http/auth-hook.ts";
import { broken, echo, invalid, unlike } from "../http/complaint.ts";
import { readIntegers } from "../http/query-integers.ts";
import type { Api } from "../http/schema-types.ts";
import { type CreateDirectTask, CreateEitherTask } from "../schemas/direct-task-request.ts";
import { BODY_REFUSALS, refusals } from "../schemas/error.ts";
import { ref } from "../schemas/field.ts";
import { isQueueName } from "../schemas/queue-name.ts";
import { CreatedAnswer, RecordAnswer, ReplayedAnswer, TaskList } from "../schemas/task-answer.ts";
import { DeletedTask } from "../schemas/task-record.ts";
import { type CreateTask, CreateTaskHeaders, TaskListQuery, TaskPath } from "../schemas/task-request.ts";
import { refuseLongLists } from "../tasks/poll-config.ts";
import { queueNotFound } from "../tasks/queue-lookup.ts";
import { createdView, readTask } from "../tasks/shape-a.ts";
import { createdDirectView, readDirectTask } from "../tasks/shape-b.ts";
import type { RefuseUrl, RequestContext } from "../tasks/task-request.ts";
import { answerOf, summaryOf } from "../tasks/task-view.ts";

const tags = ["Tasks"];

export interface TaskRouteDeps {
  readonly tasks: TaskService;
  readonly providers: Pick<ProviderService, "find">;
  readonly refuseUrl: RefuseUrl;
}

export function registerTaskRoutes(app: Api, { tasks, providers, refuseUrl }: TaskRouteDeps): void {
  app.post(
    "/tasks",
    {
      preValidation: [refuseTwoShapes, refuseLongLists],
      config: access("tasks:write"),
      schema: {
        operationId: "createTask",
        tags,
        summary: "Create a task",
        description:
          "Accepts one HTTP call to be made later. Once answered 201, the task is on disk. A body with `targetUrl` is " +
          "a direct call, any other a task for a queue; everywhere it is answered in the shape it was created in.",
        headers: CreateTaskHeaders,
        body: CreateEitherTask,
        response: {
          201: CreatedAnswer,
          200: ReplayedAnswer,
          ...refusals(
            "vault_token_unknown",
            "vault_token_host",
            "vault_off",
            "provider_unknown",
            "queue_not_found",
            "idempotency_conflict",
            ...BODY_REFUSALS,
          ),
        },
      },
    },
    async (request, reply) => {
      const wanted = readRequest(request.body, {
        text: request.bodyText,
        idempotencyKey: idempotencyKeyOf(request),
        now: new Date(),
        refuseUrl,
      });
      if (!isQueueName(wanted.queue)) throw queueNotFound(wanted.queue);
      const pollConfig = pollConfigOf(wanted, providers);
      const task = await tasks.create(callerOf(request), wanted);
      if (task.replayed) reply.header("idempotent-replayed", "true");
      const view = wanted.shape === "queue" ? createdView(task) : createdDirectView(task, wanted, pollConfig);
      return sendText(reply.code(task.replayed ? 200 : 201), JSON.stringify(view));
    },
  );

  app.get(
    "/tasks",
    {
      preValidation: readIntegers("limit", "offset"),
      config: access("tasks:read"),
      schema: {
        operationId: "listTasks",
        tags,
        summary: "List tasks",
        description: "The team's tasks, newest first.",
        querystring: TaskListQuery,
        response: { 200: ref(TaskList), ...refusals() },
      },
    },
    async (request, reply) => {
      const query = readListQuery(request.query);
      const page = await tasks.list(callerOf(request), query);
      const list: TaskList = {
        tasks: page.tasks.map(summaryOf),
        pagination: {
          total: page.total,
          limit: query.limit,
          offset: query.offset,
          hasMore: page.hasMore,
          nextCursor: page.nextCursor === null ? null : formatTaskId(page.nextCursor),
        },
      };
      return sendText(reply, JSON.stringify(list));
    },
  );

  app.get(
    "/tasks/:task_id",
    {
      config: access("tasks:read"),
      schema: {
        operationId: "getTask",
        tags,
        summary: "Get a task",
        description: "The record of a task with what it carries and every attempt.",
        params: TaskPath,
        response: { 200: RecordAnswer, ...refusals("task_not_found") },
      },
    },
    async (request, reply) => {
      const task = await tasks.get(callerOf(request), readTaskId(request.params.task_id));
      return sendText(reply, answerOf(task));
    },
  );

  app.delete(
    "/tasks/:task_id",
    {
      config: access("tasks:write"),
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
      const { task_id: id } = request.params;
      await tasks.remove(requesterOf(request), readTaskId(id));
      return { id, deleted: true };
    },
  );
}

/** Before validation: by the rules of either shape the other's field would only be an unknown one. */
const refuseTwoShapes: preValidationHookHandler = ({ body }, _reply, done) => {
  const isObject = typeof body === "object" && body !== null;
  const hasBoth = isObject && Object.hasOwn(body, "webhook_url") && Object.hasOwn(body, "targetUrl");
  done(hasBoth ? invalid([unlike("webhook_url", "targetUrl")]) : undefined);
};

function readRequest(body: CreateTask | CreateDirectTask, context: RequestContext): TaskRequest {
  if ("targetUrl" in body) return readDirectTask(body, context);
  const payload = body.payload === undefined ? undefined : sliceMember(context.text, "payload");
  return readTask(body, payload, context);
}

function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers["idempotency-key"];
  return typeof key === "string" ? key : undefined;
}

/** What will be polled: the caller's own, or what the provider's entry says now. */
function pollConfigOf(
  { provider, pollConfig }: TaskRequest,
  providers: TaskRouteDeps["providers"],
): PollConfig | null {
  if (provider === null) return pollConfig;
  const entry = providers.find(provider);
  if (entry === null) throw new Problem("provider_unknown", { id: echo(provider) });
  return entry.pollConfig;
}

/** Written by hand: a payload stands in it as it came, and of two shapes a serializer would have to guess one. */
function sendText(reply: FastifyReply, json: string): FastifyReply {
  return reply.type("application/json; charset=utf-8").send(json);
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
