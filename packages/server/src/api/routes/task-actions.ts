import type { preValidationHookHandler } from "fastify";
import { dropNulls } from "../http/absent-fields.ts";
import { access } from "../http/access.ts";
import { requesterOf } from "../http/auth-hook.ts";
import { costs, RECORD, SMALL } from "../http/cost.ts";
import type { Api } from "../http/schema-types.ts";
import { BODY_REFUSALS, refusals } from "../schemas/error.ts";
import { ref } from "../schemas/field.ts";
import { sendText } from "../tasks/task-answer.ts";
import { readCorrection } from "../tasks/task-correction.ts";
import { DeletedTask, RecordAnswer, RetryTask } from "../tasks/task-models.ts";
import { answerText } from "../tasks/task-view.ts";
import { readTaskId, TaskPath, type TaskRouteDeps } from "./tasks.ts";

const tags = ["Tasks"];

/** What a user may do with one task that exists. */
export function registerTaskActionRoutes(
  app: Api,
  { tasks, refuseUrl }: Pick<TaskRouteDeps, "tasks" | "refuseUrl">,
): void {
  app.post(
    "/tasks/:task_id/cancel",
    {
      config: { ...access("tasks:write"), ...costs("write", { rows: 1, bytes: RECORD }) },
      schema: {
        operationId: "cancelTask",
        tags,
        summary: "Cancel a task",
        description:
          "Ends a task that has not ended yet. The node that makes its call aborts it; the target may still have " +
          "acted on it. Once this is answered no further call starts. For a polled job, Bellhop calls the " +
          "`cancelUrlTemplate` of the poll configuration, if it has one.",
        params: TaskPath,
        response: { 200: RecordAnswer, ...refusals("task_not_found", "task_ended") },
      },
    },
    async (request, reply) => {
      const task = await tasks.cancel(requesterOf(request), readTaskId(request.params.task_id));
      return sendText(reply, answerText(task));
    },
  );

  app.post(
    "/tasks/:task_id/retry",
    {
      preValidation: readNothingAsEmpty,
      config: { ...access("tasks:write"), ...costs("write", { rows: 1, bytes: RECORD }) },
      schema: {
        operationId: "retryTask",
        tags,
        summary: "Retry a task",
        description:
          "Restarts a failed or cancelled task under the same id, with all its retries. What was said of its end " +
          "is cleared; its attempts stay, and the next ones are numbered on. A callback id that was not used is valid " +
          "again. With `payload` or `body`, `headers`, `webhook_url` or `targetUrl` it replaces those parts of the call, " +
          "each as a whole, by the rules of a creation; the record says so in `retried_with`.",
        params: TaskPath,
        body: ref(RetryTask),
        response: {
          200: RecordAnswer,
          ...refusals(
            "task_not_found",
            "task_not_retryable",
            "task_queue_gone",
            "vault_token_unknown",
            "vault_token_inside",
            "vault_token_host",
            "vault_off",
            "limit_reached",
            "tasks_full",
            "flows_full",
            ...BODY_REFUSALS,
          ),
        },
      },
    },
    async (request, reply) => {
      const { delay: delaySeconds = 0, priority = null } = request.body;
      const id = readTaskId(request.params.task_id);
      const correction = readCorrection(request.body, { ...request, refuseUrl });
      const task = await tasks.retry(requesterOf(request), id, { delaySeconds, priority }, correction);
      return sendText(reply, answerText(task));
    },
  );

  app.post(
    "/tasks/:task_id/dismiss",
    {
      config: { ...access("tasks:write"), ...costs("write", { rows: 1, bytes: RECORD }) },
      schema: {
        operationId: "dismissTask",
        tags,
        summary: "Dismiss a failed task",
        description:
          "Marks a failed task as one that nobody needs to look at any more: the record has `dismissed_at`, and " +
          "`dismissed=false` leaves it out of lists. A strictly ordered line that it blocks goes on. A retry clears it.",
        params: TaskPath,
        response: { 200: RecordAnswer, ...refusals("task_not_found", "task_not_failed") },
      },
    },
    async (request, reply) => {
      const task = await tasks.dismiss(requesterOf(request), readTaskId(request.params.task_id));
      return sendText(reply, answerText(task));
    },
  );

  app.post(
    "/tasks/:task_id/notifications/resend",
    {
      config: { ...access("tasks:write"), ...costs("write", { rows: 1, bytes: RECORD }) },
      schema: {
        operationId: "resendTaskNotification",
        tags,
        summary: "Send the notification of a task again",
        description:
          "Sends the notification of the task's end to its `on_complete_url` and `on_failure_url` again, with all its tries and the same " +
          "`webhook-id`. Only after it was delivered or given up.",
        params: TaskPath,
        response: {
          202: RecordAnswer,
          ...refusals("task_not_found", "task_not_ended", "notification_unset", "notification_pending"),
        },
      },
    },
    async (request, reply) => {
      const task = await tasks.resendNotification(requesterOf(request), readTaskId(request.params.task_id));
      return sendText(reply.code(202), answerText(task));
    },
  );

  app.delete(
    "/tasks/:task_id",
    {
      config: { ...access("tasks:write"), ...costs("write", { rows: 1, bytes: SMALL }) },
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

const readNothingAsEmpty: preValidationHookHandler = (request, _reply, done) => {
  request.body ??= {};
  dropNulls(request.body, Object.keys(RetryTask.properties));
  done();
};
