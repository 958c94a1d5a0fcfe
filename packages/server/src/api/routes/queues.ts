import type { FastifyRequest } from "fastify";
import { invalid } from "../../domain/complaint.ts";
import { readQueueName } from "../../domain/queue.ts";
import type { QueueService } from "../../service/tasks/queue-service.ts";
import { access, accessForTestKeys } from "../http/access.ts";
import { callerOf, requesterOf } from "../http/auth-hook.ts";
import { costs, MIB, SMALL } from "../http/cost.ts";
import { readIntegers } from "../http/query-integers.ts";
import type { Api } from "../http/schema-types.ts";
import { BODY_REFUSALS, refusals } from "../schemas/error.ts";
import { ref } from "../schemas/field.ts";
import { fitPage, readPage, showPage } from "../schemas/page.ts";
import {
  CreateQueue,
  DeletedQueue,
  Queue,
  QueueList,
  QueueListQuery,
  QueuePath,
  QueueWithStats,
  UpdateQueue,
} from "../schemas/queue.ts";
import { readSandbox } from "../schemas/sandbox.ts";
import { queueView, queueWithStatsView, readSettings } from "../tasks/queue-view.ts";

const tags = ["Queues"];

export function registerQueueRoutes(app: Api, queues: QueueService): void {
  app.post(
    "/queues",
    {
      config: { ...accessForTestKeys("queues:write"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "createQueue",
        tags,
        summary: "Create a queue",
        description:
          "A new queue is running. Every team has the queue `default` from the start. Test keys may create queues too: " +
          "live and sandbox tasks share them.",
        body: ref(CreateQueue),
        response: { 201: ref(Queue), ...refusals("queue_exists", "limit_reached", ...BODY_REFUSALS) },
      },
    },
    async (request, reply) => {
      const { name, ...settings } = request.body;
      const queue = await queues.create(requesterOf(request), name, readSettings(settings));
      reply.code(201);
      return queueView(queue);
    },
  );

  app.get(
    "/queues",
    {
      preValidation: readIntegers("limit"),
      config: { ...access("queues:read"), ...costs("page", { rows: 1_001, bytes: MIB }) },
      schema: {
        operationId: "listQueues",
        tags,
        summary: "List queues",
        description: "The queues of the team by name, each with its number of tasks per state.",
        querystring: QueueListQuery,
        response: { 200: ref(QueueList), ...refusals() },
      },
    },
    async (request) => {
      const { sandbox, ...asked } = request.query;
      const page = fitPage(
        await queues.list(callerOf(request), readPage(asked), readSandbox(sandbox)),
        queueWithStatsView,
      );
      return { queues: page.items, ...showPage(page, asked) };
    },
  );

  app.get(
    "/queues/:queue_name",
    {
      config: { ...access("queues:read"), ...costs("point", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "getQueue",
        tags,
        summary: "Get a queue with its stats",
        description: "The settings of a queue, and its number of tasks per state.",
        params: QueuePath,
        response: { 200: ref(QueueWithStats), ...refusals("queue_not_found") },
      },
    },
    async (request) =>
      queueWithStatsView(await queues.get(callerOf(request), readQueueName(request.params.queue_name))),
  );

  app.patch(
    "/queues/:queue_name",
    {
      preValidation: refuseRename,
      config: { ...access("queues:write"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "updateQueue",
        tags,
        summary: "Change the settings of a queue",
        description:
          "Tasks that are already in the queue keep the `max_retries`, `retry_backoff`, `retry_delay` and `timeout` " +
          "of their creation; `concurrency`, `rate`, `ordered`, `on_failure` and `breaker` apply at once.",
        params: QueuePath,
        body: ref(UpdateQueue),
        response: { 200: ref(Queue), ...refusals("queue_not_found", ...BODY_REFUSALS) },
      },
    },
    async (request) => {
      const name = readQueueName(request.params.queue_name);
      return queueView(await queues.update(requesterOf(request), name, readSettings(request.body)));
    },
  );

  for (const [action, paused, summary, description] of SWITCHES) {
    app.post(
      `/queues/:queue_name/${action}`,
      {
        config: { ...access("queues:write"), ...costs("write", { rows: 1, bytes: SMALL }) },
        schema: {
          operationId: `${action}Queue`,
          tags,
          summary,
          description,
          params: QueuePath,
          response: { 200: ref(Queue), ...refusals("queue_not_found") },
        },
      },
      async (request) => {
        const name = readQueueName(request.params.queue_name);
        return queueView(await queues.setPaused(requesterOf(request), name, paused));
      },
    );
  }

  app.delete(
    "/queues/:queue_name",
    {
      config: {
        ...access("queues:write"),
        isPatient: true,
        ...costs("fan-out", { rows: 1_000_000, bytes: SMALL }),
      },
      schema: {
        operationId: "deleteQueue",
        tags,
        summary: "Delete a queue",
        description:
          "Also deletes its pending tasks; `tasks_deleted` is their number. Active tasks finish. This cannot be " +
          "undone.",
        params: QueuePath,
        response: { 200: ref(DeletedQueue), ...refusals("queue_not_found", "queue_default_kept") },
      },
    },
    async (request) => {
      const name = readQueueName(request.params.queue_name);
      const removed = await queues.remove(requesterOf(request), name);
      return { name, deleted: true, tasks_deleted: removed };
    },
  );
}

const SWITCHES = [
  ["pause", true, "Pause a queue", "No new execution starts; running ones finish; tasks can still be added."],
  ["resume", false, "Resume a queue", "Executions continue."],
] as const;

/** Better said than "Unknown field": the field is known, and tasks refer to their queue by it. */
async function refuseRename(request: FastifyRequest): Promise<void> {
  const { body } = request;
  if (typeof body === "object" && body !== null && Object.hasOwn(body, "name")) {
    throw invalid([{ field: "name", error: "name cannot be changed" }]);
  }
}
