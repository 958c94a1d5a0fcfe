import { type Static, Type } from "typebox";
import { directFields } from "./direct-task-request.ts";
import { instant, model, ref } from "./field.ts";
import { PollConfig } from "./poll-config.ts";
import { attemptFields, outcomeFields, status, TaskResult } from "./task-record.ts";
import { taskFields } from "./task-request.ts";

const id = Type.String({ format: "uuid", examples: ["019a7e3a-75c5-7a31-a98f-db2dbf745c4d"] });

const callFields = {
  id,
  status,
  queue: taskFields.queue,
  targetUrl: directFields.targetUrl,
  method: directFields.method,
  headers: directFields.headers,
  priority: taskFields.priority,
  provider: Type.Optional(taskFields.provider),
  pollConfig: Type.Optional(ref(PollConfig)),
};

const body = Type.Optional(directFields.body);
const createdAt = instant("When the task was accepted. It is on disk.");

export const CreatedDirectTask = model("CreatedDirectTask", "The task as it was accepted.", {
  task: Type.Object({
    ...callFields,
    body,
    createdAt,
    runAt: Type.Optional(instant("When it becomes eligible. Not in the answer to a repeated request.")),
  }),
  callbackId: Type.Optional(
    Type.String({
      description:
        "Whoever has it may end the task, once. Shown here and nowhere else; not to a repeated request.",
    }),
  ),
  callbackUrl: Type.Optional(Type.String({ description: "Where a third party may report the result." })),
});
export type CreatedDirectTask = Static<typeof CreatedDirectTask>;

export const DirectAttempt = model("DirectAttempt", "One try.", {
  number: attemptFields.number,
  status: attemptFields.status,
  responseCode: attemptFields.response_code,
  executedAt: attemptFields.executed_at,
  duration: attemptFields.duration,
  phase: attemptFields.phase,
  error: attemptFields.error,
});
export type DirectAttempt = Static<typeof DirectAttempt>;

const summaryFields = {
  ...callFields,
  result: outcomeFields.result,
  error: outcomeFields.error,
  failureReason: outcomeFields.failure_reason,
  createdAt: outcomeFields.created_at,
  runAt: outcomeFields.run_at,
  startedAt: outcomeFields.started_at,
  completedAt: outcomeFields.completed_at,
  maxRetries: taskFields.max_retries,
  retryBackoff: taskFields.retry_backoff,
  timeout: taskFields.timeout,
  waitForCallback: Type.Optional(taskFields.wait_for_callback),
  maxWait: Type.Optional(taskFields.max_wait),
  onCompleteUrl: Type.Optional(taskFields.on_complete_url),
  sign: Type.Optional(directFields.sign),
  sandbox: outcomeFields.sandbox,
};

export const DirectTaskSummary = model(
  "DirectTaskSummary",
  "A direct call in a list: everything but its body and attempts.",
  summaryFields,
);
export type DirectTaskSummary = Static<typeof DirectTaskSummary>;

export const DirectTask = model("DirectTask", "The record of a direct call.", {
  ...summaryFields,
  body,
  attempts: Type.Array(ref(DirectAttempt)),
});
export type DirectTask = Static<typeof DirectTask>;

export const DirectTaskAnswer = model("DirectTaskAnswer", "The record of a direct call.", {
  task: ref(DirectTask),
});

export const ResolvedTask = model("ResolvedTask", "The task that the callback ended.", {
  task: Type.Object({
    id: Type.String({
      description: "`task_…` or a UUID, as the task was created.",
      examples: ["019a7e3a-75c5-7a31-a98f-db2dbf745c4d"],
    }),
    status,
    result: Type.Optional(ref(TaskResult)),
    createdAt: instant("When the task was accepted."),
    completedAt: Type.Optional(instant("When the callback ended it.")),
  }),
});
export type ResolvedTask = Static<typeof ResolvedTask>;
