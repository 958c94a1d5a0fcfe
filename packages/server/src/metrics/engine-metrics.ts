import type { FailureCode, Outcome } from "../domain/outcome.ts";
import type { Series } from "./series.ts";

const WAIT_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];
const ATTEMPT_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const BATCH_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const BATCH_TASKS = [0, 1, 2, 5, 10, 25, 50, 100, 200, 300];

/**
 * Every label value starts at 0: otherwise the first failure would not show as an increase.
 * `aborted` is not here: such an attempt is interrupted, or its task was cancelled.
 */
const FAILURE_CODES = Object.keys({
  dns_failed: 0,
  connect_failed: 0,
  connect_timeout: 0,
  connection_reset: 0,
  tls_error: 0,
  timeout: 0,
  blocked: 0,
  invalid_request: 0,
  invalid_response: 0,
} satisfies Record<Exclude<FailureCode, "aborted">, 0>);
const STATUS_CLASSES = ["http_1xx", "success", "http_3xx", "http_4xx", "http_5xx"];

/** The counters of the engine. */
export function createEngineMetrics({ counter, histogram }: Series) {
  const observeWait = histogram(
    "bellhop_task_wait_seconds",
    "From the time a task was due until its attempt began.",
    WAIT_SECONDS,
  )();

  const attempts = counter(
    "bellhop_attempts_total",
    "Attempts by outcome: success, the class of another HTTP status, a failure code, interrupted, superseded or aborted by a cancel.",
    ["outcome"],
  );
  for (const outcome of [...STATUS_CLASSES, ...FAILURE_CODES, "interrupted", "superseded", "aborted"])
    attempts(outcome);
  const observeAttempt = histogram(
    "bellhop_attempt_duration_seconds",
    "From the start of a call until its outcome.",
    ATTEMPT_SECONDS,
  )();

  const polls = counter("bellhop_polls_total", "Polls of third parties by what they came to.", ["result"]);
  for (const result of ["again", "completed", "failed", "superseded"]) polls(result);
  const notifications = counter(
    "bellhop_notifications_total",
    "Tries to tell a caller that its task has ended, by what they came to.",
    ["result"],
  );
  const deliveries = counter(
    "bellhop_webhook_deliveries_total",
    "Tries to send an event to a webhook, by what they came to.",
    ["result"],
  );
  for (const result of ["delivered", "retry", "failed"]) {
    notifications(result);
    deliveries(result);
  }

  const renewals = counter("bellhop_lease_renewals_total", "Renewals of this node's right to act.")();
  const losses = counter("bellhop_lease_losses_total", "Times that this node lost its right to act.")();
  const reaped = counter(
    "bellhop_tasks_reaped_total",
    "Tasks that this node took from nodes that are no more.",
  )();

  const batchTasks = histogram("bellhop_batch_tasks", "Tasks in one statement, by step.", BATCH_TASKS, [
    "step",
  ]);
  const batchSeconds = histogram(
    "bellhop_batch_duration_seconds",
    "Until such a statement was committed, by step.",
    BATCH_SECONDS,
    ["step"],
  );

  const batches = new Map(
    ["intake", "claim", "settle", "poll"].map((step) => [
      step,
      { observeTasks: batchTasks(step), observeSeconds: batchSeconds(step) },
    ]),
  );

  return {
    waited(ms: number) {
      observeWait(ms / 1000);
    },
    attempted(outcome: Outcome) {
      attempts(outcomeLabel(outcome)).value += 1;
      observeAttempt(outcome.durationMs / 1000);
    },
    attemptLost(how: string) {
      attempts(how).value += 1;
    },
    polled(result: string) {
      polls(result).value += 1;
    },
    notified(result: string) {
      notifications(result).value += 1;
    },
    delivered(result: string) {
      deliveries(result).value += 1;
    },
    leaseRenewed() {
      renewals.value += 1;
    },
    leaseLost() {
      losses.value += 1;
    },
    reaped(tasks: number) {
      reaped.value += tasks;
    },
    batch(step: string, size: number, ms: number) {
      const batch = batches.get(step);
      batch?.observeTasks(size);
      batch?.observeSeconds(ms / 1000);
    },
  };
}

function outcomeLabel(outcome: Outcome): string {
  if (outcome.kind === "failure") return outcome.code;
  return STATUS_CLASSES[Math.floor(outcome.statusCode / 100) - 1] ?? "invalid_response";
}
