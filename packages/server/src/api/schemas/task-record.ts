import { type Static, Type } from "typebox";
import { instant, integerOrNull, model, oneOf, ref, textMap, textOrNull } from "./field.ts";
import { PollConfig } from "./poll-config.ts";
import { STATUSES, taskFields } from "./task-request.ts";

const id = Type.String({ examples: ["task_01k9z3mxe5f8hrk3yv5pzq8c2d"] });
export const status = oneOf(STATUSES, { description: "The state of the task." });

export const CreatedTask = model("CreatedTask", "The task as it was accepted.", {
  id,
  queue: taskFields.queue,
  status,
  priority: taskFields.priority,
  delay: taskFields.delay,
  created_at: instant("When the task was accepted. It is on disk."),
  callback_id: Type.Optional(
    Type.String({
      description:
        "For a task that waits, is polled or names its callback. Whoever has it may end the task, once. Shown here " +
        "and nowhere else; not to a repeated request.",
    }),
  ),
  callback_url: Type.Optional(Type.String({ description: "Where a third party may report the result." })),
});
export type CreatedTask = Static<typeof CreatedTask>;

export const attemptFields = {
  number: Type.Integer({ description: "From 1." }),
  status: oneOf(["active", "success", "failed", "timeout", "interrupted", "blocked", "superseded"], {
    description: "How the attempt ended; `active` while it runs.",
  }),
  response_code: integerOrNull("Null when there was no answer."),
  executed_at: instant("When the attempt began."),
  duration: integerOrNull("Milliseconds; null while it runs."),
  phase: oneOf(["not_sent", "sent", "responded"], {
    description: "How far the call got. `sent`: the target may have acted on it although no answer came.",
  }),
  error: textOrNull("What went wrong, for people."),
};

export const Attempt = model("Attempt", "One try.", attemptFields);
export type Attempt = Static<typeof Attempt>;

export const TaskResult = model("TaskResult", "The last answer of the target, or what a callback brought.", {
  statusCode: Type.Integer(),
  headers: textMap({
    description: "Headers of the answer, names in lower case.",
    examples: [{ "content-type": "text/plain" }],
  }),
  body: Type.String({ description: "The answer as text, at most 256 KiB of it." }),
  duration: Type.Integer({ description: "Milliseconds." }),
  truncated: Type.Optional(Type.Boolean({ description: "True when the body was cut." })),
});
export type TaskResult = Static<typeof TaskResult>;

/** How it went, under the names that a queue task has. */
export const outcomeFields = {
  created_at: instant("When the task was accepted."),
  run_at: instant("When it becomes, or became, eligible: later after a failed attempt that is retried."),
  started_at: Type.Optional(instant("When its first attempt began.")),
  completed_at: Type.Optional(instant("When it ended, completed or failed.")),
  result: Type.Optional(ref(TaskResult)),
  error: Type.Optional(Type.String({ description: "Why it failed, for people." })),
  failure_reason: Type.Optional(
    Type.String({ description: "Why it failed, for machines.", examples: ["retries_exhausted"] }),
  ),
  sandbox: Type.Optional(
    Type.Boolean({ description: "True for a task of a test key: it is never executed." }),
  ),
};

const { created_at, run_at, started_at, completed_at, ...endFields } = outcomeFields;

const summaryFields = {
  id,
  queue: taskFields.queue,
  status,
  priority: taskFields.priority,
  created_at,
  run_at,
  started_at,
  completed_at,
  max_retries: taskFields.max_retries,
  timeout: taskFields.timeout,
  retry_backoff: taskFields.retry_backoff,
  webhook_url: taskFields.webhook_url,
  method: taskFields.method,
  headers: taskFields.headers,
  wait_for_callback: Type.Optional(taskFields.wait_for_callback),
  max_wait: Type.Optional(taskFields.max_wait),
  provider: Type.Optional(taskFields.provider),
  poll_config: Type.Optional(ref(PollConfig)),
  on_complete_url: Type.Optional(taskFields.on_complete_url),
  ...endFields,
};

export const TaskSummary = model(
  "TaskSummary",
  "A task in a list: everything but its payload and attempts.",
  summaryFields,
);
export type TaskSummary = Static<typeof TaskSummary>;

export const Task = model("Task", "The record of a task.", {
  ...summaryFields,
  payload: taskFields.payload,
  attempts: Type.Array(ref(Attempt)),
});

export const DeletedTask = model("DeletedTask", "The task is gone and will not be called.", {
  id: Type.String({ description: "As it was asked for.", examples: ["task_01k9z3mxe5f8hrk3yv5pzq8c2d"] }),
  deleted: Type.Boolean(),
});
