import type { Attempt, Task, TaskSummary } from "../../domain/task.ts";
import { formatTaskId } from "../../domain/task-id.ts";
import type { CreatedTask, TaskRequest } from "../../service/tasks/task-service.ts";
import type * as record from "../schemas/task-record.ts";
import type { CreateTask } from "../schemas/task-request.ts";
import { pollConfigView, resultView } from "./shared-view.ts";
import { type FieldNames, type RequestContext, readWish } from "./task-request.ts";

const NAMES: FieldNames = {
  url: "webhook_url",
  runAt: "run_at",
  waitForCallback: "wait_for_callback",
  provider: "provider",
  pollConfig: "poll_config",
  onCompleteUrl: "on_complete_url",
  idempotencyKey: "idempotency_key",
};

/**
 * Shape A, the queue-based one: request → task → record. `body` has passed its schema; `payload` is its source text,
 * which is what the target gets.
 */
export function readTask(
  body: CreateTask,
  payload: string | undefined,
  context: RequestContext,
): TaskRequest {
  const { headers = {}, method = "POST" } = body;
  const wish = {
    shape: "queue",
    queue: body.queue,
    call: { method, url: body.webhook_url, headers, body: payload ?? (method === "GET" ? null : "{}") },
    priority: body.priority,
    delay: body.delay,
    runAt: body.run_at,
    maxRetries: body.max_retries,
    backoff: body.retry_backoff,
    timeout: body.timeout,
    waitForCallback: body.wait_for_callback,
    maxWait: body.max_wait,
    provider: body.provider,
    pollConfig: body.poll_config,
    onCompleteUrl: body.on_complete_url,
    idempotencyKey: body.idempotency_key,
    sign: true,
  } as const;
  return readWish(wish, NAMES, context);
}

export function createdView(task: CreatedTask): record.CreatedTask {
  return {
    id: formatTaskId(task.id),
    queue: task.queue,
    status: task.status,
    priority: task.priority,
    delay: task.delaySeconds,
    created_at: task.createdAt.toISOString(),
    ...(task.callback && { callback_id: task.callback.id, callback_url: task.callback.url }),
  };
}

export function summaryView(task: TaskSummary): record.TaskSummary {
  const { provider, pollConfig, waitForCallback, maxWaitSeconds } = task.follow;
  return {
    id: formatTaskId(task.id),
    queue: task.queue,
    status: task.status,
    priority: task.priority,
    created_at: task.createdAt.toISOString(),
    run_at: task.runAt.toISOString(),
    ...(task.startedAt && { started_at: task.startedAt.toISOString() }),
    ...(task.completedAt && { completed_at: task.completedAt.toISOString() }),
    max_retries: task.maxRetries,
    timeout: task.timeoutSeconds,
    retry_backoff: task.backoff,
    webhook_url: task.call.url,
    method: task.call.method,
    headers: { ...task.call.headers },
    ...(waitForCallback && { wait_for_callback: true, max_wait: maxWaitSeconds }),
    ...(provider !== null && { provider }),
    ...(pollConfig && { poll_config: pollConfigView(pollConfig) }),
    ...(task.onCompleteUrl !== null && { on_complete_url: task.onCompleteUrl }),
    ...(task.result && { result: resultView(task.result) }),
    ...(task.error !== null && { error: task.error }),
    ...(task.failureReason !== null && { failure_reason: task.failureReason }),
    ...(task.sandbox && { sandbox: true }),
  };
}

/** The whole record as JSON text: the payload is spliced in unparsed, so it reads exactly as it was sent. */
export function recordText(task: Task): string {
  const rest = JSON.stringify({ ...summaryView(task), attempts: task.attempts.map(attemptView) });
  return `${rest.slice(0, -1)},"payload":${task.call.body ?? "{}"}}`;
}

function attemptView(attempt: Attempt): record.Attempt {
  return {
    number: attempt.number,
    status: attempt.status,
    response_code: attempt.responseCode,
    executed_at: attempt.executedAt.toISOString(),
    duration: attempt.durationMs,
    phase: attempt.phase,
    error: attempt.error,
  };
}
