import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { openAnswerRoom } from "../../domain/answer-room.ts";
import type { RefuseUrl } from "../../domain/call.ts";
import { Problem } from "../../domain/problem.ts";
import { parseTaskId } from "../../domain/task-id.ts";
import { formatCursor } from "../../service/tasks/task-cursor.ts";
import type { TaskService } from "../../service/tasks/task-service.ts";
import type { WaitingService } from "../../service/tasks/waiting-service.ts";
import { access } from "../http/access.ts";
import { callerOf } from "../http/auth-hook.ts";
import { compileAtStart } from "../http/compilers.ts";
import { costs, MIB, RECORD } from "../http/cost.ts";
import { openWaits, readWait, WaitQuery } from "../http/long-wait.ts";
import { readIntegers } from "../http/query-integers.ts";
import type { Api } from "../http/schema-types.ts";
import { BODY_REFUSALS, refusals } from "../schemas/error.ts";
import { ref } from "../schemas/field.ts";
import { sendCreated, sendText } from "../tasks/task-answer.ts";
import { prepareBody } from "../tasks/task-body.ts";
import { readListQuery, readsOneQueue, TaskListQuery } from "../tasks/task-list-query.ts";
import {
  CreatedAnswer,
  CreateEitherTask,
  CreateTaskHeaders,
  RecordAnswer,
  ReplayedAnswer,
  TaskList,
} from "../tasks/task-models.ts";
import { readTask } from "../tasks/task-reader.ts";
import { answerText, createdText, summaryText, waitedText } from "../tasks/task-view.ts";

const tags = ["Tasks"];

export interface TaskRouteDeps {
  readonly tasks: TaskService;
  readonly waiting: WaitingService;
  readonly refuseUrl: RefuseUrl;
}

export const TaskPath = Type.Object({
  task_id: Type.String({
    description: "`task_…`, or the UUID that it encodes: both are accepted for every task.",
    examples: ["task_01k9z3mxe5f8hrk3yv5pzq8c2d"],
  }),
});

export function registerTaskRoutes(app: Api, { tasks, waiting, refuseUrl }: TaskRouteDeps): void {
  const openWait = openWaits(app);
  app.post(
    "/tasks",
    {
      preValidation: [readWait, prepareBody],
      config: { ...access("tasks:write"), ...costs("write", { rows: 1, bytes: RECORD }) },
      schema: {
        operationId: "createTask",
        tags,
        summary: "Create a task",
        description:
          "Accepts one HTTP call to be made later. Once answered 201, the task is on disk. A body with `targetUrl` " +
          "is a direct task, any other a queue task; every answer shows it in the shape of its creation.",
        headers: CreateTaskHeaders,
        querystring: WaitQuery,
        body: compileAtStart(CreateEitherTask),
        response: {
          201: CreatedAnswer,
          200: ReplayedAnswer,
          ...refusals(
            "limit_reached",
            "tasks_full",
            "flows_full",
            "space_low",
            "vault_token_unknown",
            "vault_token_inside",
            "vault_token_host",
            "vault_off",
            "provider_unknown",
            "queue_not_found",
            "idempotency_conflict",
            "dedupe_conflict",
            "too_many_waiting",
            ...BODY_REFUSALS,
          ),
        },
      },
    },
    // Not async: this route is called most, and an async function costs one more promise per request.
    (request, reply) => {
      const wanted = readTask(request.body, {
        text: request.bodyText,
        extracted: request.extracted,
        idempotencyKey: idempotencyKeyOf(request),
        now: new Date(),
        refuseUrl,
      });
      const { wait = 0 } = request.query;
      const caller = callerOf(request);
      if (wait === 0)
        // A promise of nothing: a reply is a thenable, and fastify would wait for it once more. The answer is sent by then, because
        // no onSend hook is asynchronous.
        return tasks.create(caller, wanted).then((task) => {
          sendCreated(reply, task, task.joined === null ? createdText(task) : waitedText(task, task));
        });
      return waiting
        .create(caller, wanted, openWait(request, reply, wait))
        .then(({ created, task }) => sendCreated(reply, created, waitedText(task, created)));
    },
  );

  app.get(
    "/tasks",
    {
      preValidation: readIntegers("limit", "offset"),
      config: {
        ...access("tasks:read"),
        ...costs("scan", { rows: 21_000, bytes: MIB, unless: readsOneQueue }),
      },
      schema: {
        operationId: "listTasks",
        tags,
        summary: "List tasks",
        description:
          "The team's tasks that match every filter, newest first. A page has at most 1 MiB: with very long headers " +
          "and URLs it has fewer than `limit` tasks. Filters other than queue, status and time scan a limited number" +
          " of tasks per page, which then may have fewer than `limit` tasks, or none. In both cases `hasMore` is " +
          "true and `nextCursor` continues. `metadata.<name>=<value>` filters by an entry of the metadata.",
        querystring: TaskListQuery,
        response: { 200: ref(TaskList), ...refusals("cursor_foreign", "too_many_scans") },
      },
    },
    async (request, reply) => {
      const query = readListQuery(request.query);
      const page = await tasks.list(callerOf(request), query);
      const room = openAnswerRoom();
      const texts: string[] = [];
      for (const task of page.tasks) {
        const text = summaryText(task);
        if (!room.take(text)) break;
        texts.push(text);
      }
      const isCut = texts.length < page.tasks.length;
      const next = isCut ? page.tasks[texts.length - 1]?.id : page.next;
      const pagination = JSON.stringify({
        total: page.total,
        ...(page.totalIsCapped && { totalIsCapped: true }),
        limit: query.limit,
        offset: query.offset,
        hasMore: isCut || page.hasMore,
        nextCursor: next ? formatCursor({ after: next, search: page.search }) : null,
      });
      return sendText(reply, `{"tasks":[${texts.join()}],"pagination":${pagination}}`);
    },
  );

  app.get(
    "/tasks/:task_id",
    {
      preValidation: readWait,
      config: { ...access("tasks:read"), ...costs("point", { rows: 1, bytes: RECORD }) },
      schema: {
        operationId: "getTask",
        tags,
        summary: "Get a task",
        description: "The record of a task with its payload and every attempt.",
        params: TaskPath,
        querystring: WaitQuery,
        response: { 200: RecordAnswer, ...refusals("task_not_found", "too_many_waiting") },
      },
    },
    async (request, reply) => {
      const { wait = 0 } = request.query;
      const id = readTaskId(request.params.task_id);
      const task = await (wait === 0
        ? tasks.get(callerOf(request), id)
        : waiting.get(callerOf(request), id, openWait(request, reply, wait)));
      return sendText(reply, answerText(task));
    },
  );
}

function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers["idempotency-key"];
  return typeof key === "string" ? key : undefined;
}

/** An invalid id gets the same answer as an unknown one. */
export function readTaskId(text: string): string {
  const id = parseTaskId(text);
  if (id === null) throw new Problem("task_not_found");
  return id;
}
