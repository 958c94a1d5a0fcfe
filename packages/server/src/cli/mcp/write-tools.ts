import type { BodyOf, NewTask } from "../sdk.ts";
import { TASK_ID } from "./read-tools.ts";
import { integer, type Tool, text, textOf } from "./tool.ts";

const QUEUE = text("The queue's name.");
const SCHEDULE = text("The schedule's id or name.");

/** What a schedule's task has in common with one that is created now. */
const TASK_FIELDS = {
  queue: text("The queue to put it in; it must exist, but for default."),
  webhookUrl: text("What to call, with http or https."),
  payload: { description: "Any JSON value, sent as the body of the call." },
  method: text("Instead of POST.", { enum: ["GET", "POST", "PUT", "PATCH", "DELETE"] }),
  headers: {
    type: "object",
    additionalProperties: { type: "string" },
    description:
      "Headers to send along. A credential goes in by the id of its vault token, tok_…, never itself.",
  },
  priority: integer("1 to 10; higher ones first.", 1, 10),
  maxRetries: integer("Further attempts when it fails.", 0),
  timeout: integer("How many seconds the call may take.", 1),
  tags: { type: "array", items: { type: "string" }, description: "To find it by." },
} as const;

export const WRITE_TOOLS: readonly Tool[] = [
  {
    name: "create_task",
    title: "Create a task",
    description:
      "Hands over an HTTP call to make now or later. Answers with the task's id; wait_for_task waits for its end.",
    scope: "tasks:write",
    changes: "additive",
    properties: {
      ...TASK_FIELDS,
      delay: integer("Make the call so many seconds later.", 0),
      runAt: text("Make the call at this time, in ISO 8601."),
      idempotencyKey: text("The same key again makes no second task."),
    },
    required: ["webhookUrl"],
    run: (client, input, options) =>
      client.tasks.create({ queue: "default", ...input } as unknown as NewTask, options),
  },
  {
    name: "retry_task",
    title: "Retry a task",
    description: "Makes a failed or cancelled task pending again, under its id.",
    scope: "tasks:write",
    changes: "additive",
    properties: { taskId: TASK_ID },
    required: ["taskId"],
    run: (client, input, options) => client.tasks.retry(textOf(input, "taskId"), {}, options),
  },
  {
    name: "cancel_task",
    title: "Cancel a task",
    description: "Ends a task in any state. A call under way is broken off.",
    scope: "tasks:write",
    changes: "destructive",
    properties: { taskId: TASK_ID },
    required: ["taskId"],
    run: (client, input, options) => client.tasks.cancel(textOf(input, "taskId"), options),
  },
  {
    name: "put_schedule",
    title: "Create or replace a schedule",
    description: "Creates a schedule by cron, or replaces the one of this name.",
    scope: "schedules:write",
    changes: "destructive",
    properties: {
      name: text("The schedule's name."),
      cron: text("Five fields, such as 0 9 * * 1."),
      timezone: text("Such as Europe/Berlin; UTC by default."),
      task: {
        type: "object",
        properties: TASK_FIELDS,
        required: ["webhookUrl"],
        additionalProperties: false,
        description: "What to create each time.",
      },
    },
    required: ["name", "cron", "task"],
    run: (client, { name, task, ...rest }, options) => {
      const body = { ...rest, task: { queue: "default", ...(task as object) } };
      return client.schedules.put(
        textOf({ name }, "name"),
        body as unknown as BodyOf<"putSchedule">,
        options,
      );
    },
  },
  {
    name: "run_schedule",
    title: "Run a schedule now",
    description: "Creates a task of a schedule now, besides its times.",
    scope: "schedules:write",
    changes: "additive",
    properties: { schedule: SCHEDULE },
    required: ["schedule"],
    run: (client, input, options) => client.schedules.run(textOf(input, "schedule"), options),
  },
  {
    name: "pause_schedule",
    title: "Pause a schedule",
    description: "Lets a schedule create no tasks until it is resumed.",
    scope: "schedules:write",
    changes: "additive",
    properties: { schedule: SCHEDULE },
    required: ["schedule"],
    run: (client, input, options) => client.schedules.pause(textOf(input, "schedule"), options),
  },
  {
    name: "resume_schedule",
    title: "Resume a schedule",
    description: "Lets a paused schedule create tasks again.",
    scope: "schedules:write",
    changes: "additive",
    properties: { schedule: SCHEDULE },
    required: ["schedule"],
    run: (client, input, options) => client.schedules.resume(textOf(input, "schedule"), options),
  },
  {
    name: "pause_queue",
    title: "Pause a queue",
    description: "Starts no more tasks of a queue until it is resumed; calls under way finish.",
    scope: "queues:write",
    changes: "additive",
    properties: { queue: QUEUE },
    required: ["queue"],
    run: (client, input, options) => client.queues.pause(textOf(input, "queue"), options),
  },
  {
    name: "resume_queue",
    title: "Resume a queue",
    description: "Starts tasks of a paused queue again.",
    scope: "queues:write",
    changes: "additive",
    properties: { queue: QUEUE },
    required: ["queue"],
    run: (client, input, options) => client.queues.resume(textOf(input, "queue"), options),
  },
];
