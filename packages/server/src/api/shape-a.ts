import { Problem, type ProblemDetail } from "../domain/problem.ts";
import { type Attempt, PRIORITY_DEFAULT, type Task, type TaskSummary } from "../domain/task.ts";
import { formatTaskId } from "../service/task-id.ts";
import type { CreatedTask, TaskRequest } from "../service/task-service.ts";
import { broken, invalid, unlike } from "./complaint.ts";
import { parseInstant } from "./instant.ts";
import { headerComplaints, isCallUrl } from "./outgoing-call.ts";
import type * as record from "./schemas/task-record.ts";
import { type CreateTask, LONGEST_DELAY_SECONDS } from "./schemas/task-request.ts";

const VAULT_REFERENCE = "tok_";

/**
 * Shape A, the queue-based one: request → task → record. `body` has passed its schema; `payload` is its source text,
 * which is what the target gets.
 */
export function readTask(body: CreateTask, payload: string | undefined, now: Date): TaskRequest {
  const { headers = {}, method = "POST" } = body;
  const runAt = body.run_at === undefined ? null : parseInstant(body.run_at);
  const complaints = [
    ...urlComplaints(body),
    ...headerComplaints(headers),
    ...scheduleComplaints(body, runAt, now),
  ];
  if (complaints.length > 0) throw invalid(complaints);
  refuseVaultReferences(headers);
  return {
    shape: "queue",
    queue: body.queue,
    call: { method, url: body.webhook_url, headers, body: payload ?? (method === "GET" ? null : "{}") },
    priority: body.priority ?? PRIORITY_DEFAULT,
    delaySeconds: body.delay ?? 0,
    // The past means now, and only the database knows when now is.
    runAt: runAt !== null && runAt > now ? runAt : null,
    maxRetries: body.max_retries ?? null,
    backoff: body.retry_backoff ?? null,
    timeoutSeconds: body.timeout ?? null,
  };
}

function urlComplaints(body: CreateTask): ProblemDetail[] {
  return isCallUrl(body.webhook_url) ? [] : [broken("webhook_url", "a valid http or https URL")];
}

function scheduleComplaints(body: CreateTask, runAt: Date | null, now: Date): ProblemDetail[] {
  if (body.run_at === undefined) return [];
  if (body.delay !== undefined) return [unlike("delay", "run_at")];
  if (runAt === null) return [broken("run_at", "an ISO 8601 time with a zone, such as 2030-01-31T09:00:00Z")];
  const aheadMs = runAt.getTime() - now.getTime();
  return aheadMs > LONGEST_DELAY_SECONDS * 1000 ? [broken("run_at", "at most 1 year ahead")] : [];
}

/** There is no vault yet, so no token is known; sent on as it is, the name of a secret would reach the target. */
function refuseVaultReferences(headers: Readonly<Record<string, string>>): void {
  for (const [header, token] of Object.entries(headers)) {
    if (token.startsWith(VAULT_REFERENCE)) throw new Problem("vault_token_unknown", { header, token });
  }
}

/** `pending` is the state on acceptance: by the time this is read the task may be further. */
export function createdView(task: CreatedTask): record.CreatedTask {
  return {
    id: formatTaskId(task.id),
    queue: task.queue,
    status: "pending",
    priority: task.priority,
    delay: task.delaySeconds,
    created_at: task.createdAt.toISOString(),
  };
}

export function summaryView(task: TaskSummary): record.TaskSummary {
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
    ...(task.result && { result: { ...task.result, headers: { ...task.result.headers } } }),
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
