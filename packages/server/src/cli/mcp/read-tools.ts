import { TASK_STATUSES } from "../../domain/task.ts";
import type { QueryOf } from "../sdk.ts";
import { integer, type Tool, text, textOf } from "./tool.ts";

const RANGES = ["15m", "1h", "6h", "24h", "7d", "30d"];
const MOST_TASKS = 100;
/** Short of the minute after which clients of the protocol give up by default. */
const LONGEST_WAIT_SECONDS = 45;

export const TASK_ID = text("The task's id: task_… or a UUID.");

const common = { changes: null, required: [] } as const;

export const READ_TOOLS: readonly Tool[] = [
  {
    ...common,
    name: "who_am_i",
    title: "Who am I",
    description: "Shows the team, the role, the scopes and the limits of the key in use.",
    scope: null,
    properties: {},
    run: (client, _input, options) => client.me(options),
  },
  {
    ...common,
    name: "list_tasks",
    title: "List tasks",
    description:
      "Lists tasks, newest first, without payloads and results. Pass nextCursor of the answer as cursor to go on.",
    scope: "tasks:read",
    properties: {
      status: text("Only tasks in this state.", { enum: [...TASK_STATUSES] }),
      queue: text("Only tasks of this queue."),
      tag: text("Only tasks with this tag."),
      host: text("Only tasks that call this host."),
      schedule: text("Only tasks of this schedule, by its id."),
      createdAfter: text("Only tasks created after this time, in ISO 8601."),
      createdBefore: text("Only tasks created before this time, in ISO 8601."),
      limit: integer("How many at most; 20 by default.", 1, MOST_TASKS),
      cursor: text("Where to go on."),
    },
    // The server checks what a filter may be, and says what is wrong with it.
    run: (client, input, options) => client.tasks.page(input as QueryOf<"listTasks">, options),
  },
  {
    ...common,
    name: "get_task",
    title: "Look at a task",
    description: "Shows a task with its payload, its attempts, its result and its error.",
    scope: "tasks:read",
    properties: { taskId: TASK_ID },
    required: ["taskId"],
    run: (client, input, options) => client.tasks.get(textOf(input, "taskId"), options),
  },
  {
    ...common,
    name: "explain_task",
    title: "Explain a task",
    description:
      "Says why a task does not run at this moment: paused queue, delay, limits, backoff and so on.",
    scope: "tasks:read",
    properties: { taskId: TASK_ID },
    required: ["taskId"],
    run: (client, input, options) => client.tasks.explain(textOf(input, "taskId"), options),
  },
  {
    ...common,
    name: "wait_for_task",
    title: "Wait for a task",
    description: "Waits until a task has ended and shows it. An error says that it still has not ended.",
    scope: "tasks:read",
    properties: {
      taskId: TASK_ID,
      timeoutSeconds: integer("How long at most; 30 by default.", 1, LONGEST_WAIT_SECONDS),
    },
    required: ["taskId"],
    run: (client, input, options) => {
      const timeoutMs = Number(input.timeoutSeconds ?? 30) * 1000;
      return client.tasks.wait(textOf(input, "taskId"), { ...options, timeoutMs });
    },
  },
  {
    ...common,
    name: "list_queues",
    title: "List queues",
    description: "Lists the queues with their settings and how many tasks are in which state.",
    scope: "queues:read",
    properties: {},
    run: (client, _input, options) => client.queues.list({}, options),
  },
  {
    ...common,
    name: "list_failures",
    title: "List failures",
    description: "Groups the tasks that failed lately by what they called and why, most frequent first.",
    scope: "tasks:read",
    properties: { range: text("How far back; 24h by default.", { enum: RANGES }) },
    run: (client, input, options) => client.stats.failures(input as QueryOf<"getFailureStats">, options),
  },
  {
    ...common,
    name: "list_schedules",
    title: "List schedules",
    description: "Lists the schedules with their cron expressions, next times and last tasks.",
    scope: "schedules:read",
    properties: {},
    run: (client, _input, options) => client.schedules.list(options),
  },
];
