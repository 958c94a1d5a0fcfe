import type { PollConfig } from "../../domain/poll/poll-config.ts";
import type { ProblemDetail } from "../../domain/problem.ts";
import type { Attempt, Task, TaskSummary } from "../../domain/task.ts";
import type { CreatedTask, TaskRequest } from "../../service/tasks/task-service.ts";
import { broken } from "../http/complaint.ts";
import { isStorable, STORABLE_RULE } from "../http/storable-text.ts";
import type * as record from "../schemas/direct-task-record.ts";
import type { CreateDirectTask } from "../schemas/direct-task-request.ts";
import { pollConfigView, resultView } from "./shared-view.ts";
import { type FieldNames, type RequestContext, readWish } from "./task-request.ts";

const NAMES: FieldNames = {
  url: "targetUrl",
  runAt: "delayUntil",
  waitForCallback: "waitForCallback",
  provider: "provider",
  pollConfig: "pollConfig",
  onCompleteUrl: "onCompleteUrl",
  idempotencyKey: "idempotencyKey",
};

/** Shape B, the direct call: request → task → record. `body` has passed its schema. */
export function readDirectTask(body: CreateDirectTask, context: RequestContext): TaskRequest {
  const { headers = {}, method = "POST", queue = "default", sign = false } = body;
  const wish = {
    shape: "direct",
    queue,
    call: { method, url: body.targetUrl, headers, body: body.body ?? null },
    priority: body.priority,
    delay: body.delay,
    runAt: body.delayUntil,
    maxRetries: body.maxRetries,
    backoff: body.retryBackoff,
    timeout: body.timeout,
    waitForCallback: body.waitForCallback,
    maxWait: body.maxWait,
    provider: body.provider,
    pollConfig: body.pollConfig,
    onCompleteUrl: body.onCompleteUrl,
    idempotencyKey: body.idempotencyKey,
    sign,
  } as const;
  return readWish(wish, NAMES, context, bodyComplaints(body.body));
}

function bodyComplaints(body: string | undefined): ProblemDetail[] {
  return body === undefined || isStorable(body) ? [] : [broken("body", STORABLE_RULE)];
}

/** `wanted` is the request that `task` was created from, or the same once more; `pollConfig` what will be polled. */
export function createdDirectView(
  task: CreatedTask,
  wanted: TaskRequest,
  pollConfig: PollConfig | null,
): record.CreatedDirectTask {
  const { call, provider } = wanted;
  const runAtMs = wanted.runAt?.getTime() ?? task.createdAt.getTime() + wanted.delaySeconds * 1000;
  return {
    task: {
      id: task.id,
      status: task.status,
      queue: task.queue,
      targetUrl: call.url,
      method: call.method,
      headers: { ...call.headers },
      ...(call.body !== null && { body: call.body }),
      priority: task.priority,
      ...(provider !== null && { provider }),
      ...(pollConfig && { pollConfig: pollConfigView(pollConfig) }),
      createdAt: task.createdAt.toISOString(),
      // Of a task from before it may have changed: the record has it.
      ...(!task.replayed && { runAt: new Date(runAtMs).toISOString() }),
    },
    ...(task.callback && { callbackId: task.callback.id, callbackUrl: task.callback.url }),
  };
}

export function directSummaryView(task: TaskSummary): record.DirectTaskSummary {
  return { ...callView(task), ...courseView(task) };
}

export function directRecordView(task: Task): record.DirectTask {
  return {
    ...callView(task),
    ...(task.call.body !== null && { body: task.call.body }),
    attempts: task.attempts.map(attemptView),
    ...courseView(task),
  };
}

function callView(task: TaskSummary) {
  const { provider, pollConfig } = task.follow;
  return {
    id: task.id,
    status: task.status,
    queue: task.queue,
    targetUrl: task.call.url,
    method: task.call.method,
    headers: { ...task.call.headers },
    priority: task.priority,
    ...(provider !== null && { provider }),
    ...(pollConfig && { pollConfig: pollConfigView(pollConfig) }),
  };
}

function courseView(task: TaskSummary) {
  return {
    ...(task.result && { result: resultView(task.result) }),
    ...(task.error !== null && { error: task.error }),
    ...(task.failureReason !== null && { failureReason: task.failureReason }),
    createdAt: task.createdAt.toISOString(),
    runAt: task.runAt.toISOString(),
    ...(task.startedAt && { startedAt: task.startedAt.toISOString() }),
    ...(task.completedAt && { completedAt: task.completedAt.toISOString() }),
    maxRetries: task.maxRetries,
    retryBackoff: task.backoff,
    timeout: task.timeoutSeconds,
    ...(task.follow.waitForCallback && { waitForCallback: true, maxWait: task.follow.maxWaitSeconds }),
    ...(task.onCompleteUrl !== null && { onCompleteUrl: task.onCompleteUrl }),
    ...(task.sign && { sign: true }),
    ...(task.sandbox && { sandbox: true }),
  };
}

function attemptView(attempt: Attempt): record.DirectAttempt {
  return {
    number: attempt.number,
    status: attempt.status,
    responseCode: attempt.responseCode,
    executedAt: attempt.executedAt.toISOString(),
    duration: attempt.durationMs,
    phase: attempt.phase,
    error: attempt.error,
  };
}
