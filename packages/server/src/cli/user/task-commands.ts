import { type Command, Option } from "commander";
import { DEDUPE_MODES } from "../../domain/dedupe.ts";
import { TASK_STATUSES } from "../../domain/task.ts";
import type { BodyOf, NewDirectTask, NewTask, Task, TaskSummary } from "../sdk.ts";
import { type Column, printable } from "../table.ts";
import { collect, readHeader, readInteger, readJson, readTaskFile } from "./option-values.ts";
import { addTaskBulkCommands } from "./task-bulk-commands.ts";
import { addTailCommand } from "./task-tail.ts";
import { given, type ServerOptions, serverCommand, show, showRows, timeOf, type User } from "./user.ts";

export function addTaskCommands(program: Command, user: User): void {
  const tasks = program.command("tasks").description("create, list and manage tasks");

  serverCommand(tasks, "create", "create a task; prints its id")
    .argument("[url]", "URL to call; omitted with --from")
    .option("--from <file>", "the whole task as JSON, as in the API; - reads standard input")
    .option("--queue <name>", "the queue to put it in", "default")
    .option("--payload <json>", "JSON body of the call", readJson)
    .option("--delay <seconds>", "seconds until the call", readInteger)
    .option("--at <time>", "time of the call, such as 2030-01-01T09:00:00Z")
    .option("--priority <n>", "1 to 10; higher ones first", readInteger)
    .option("--max-retries <n>", "retries after a failed attempt", readInteger)
    .option("--timeout <seconds>", "timeout of the call", readInteger)
    .option("--method <method>", "HTTP method instead of POST")
    .option("--header <name: value>", "header of the call; may be repeated", readHeader)
    .option("--tag <tag>", "tag of the task; may be repeated", collect)
    .option("--on-complete-url <url>", "URL to notify when the task has ended")
    .option("--on-failure-url <url>", "URL to notify when the task has failed or was cancelled")
    .option("--dedupe-key <key>", "joins different requests under one key")
    .addOption(
      new Option("--dedupe-mode <mode>", "what a later request with the key does")
        .choices(DEDUPE_MODES)
        .default("first"),
    )
    .option("--dedupe-window <seconds>", "how long the key holds", readInteger, 3600)
    .option("--idempotency-key <key>", "the same key creates no second task")
    .option("--wait", "wait until it has ended; exits 1 unless it completed")
    .action(async (url: string | undefined, options: CreateOptions, command: Command) => {
      if ((url === undefined) === (options.from === undefined))
        return command.error("error: name either a url or --from <file>");
      const client = await user.client(options);
      // The server validates the content of the file.
      const task = (
        options.from === undefined ? newTask(url ?? "", options) : await readTaskFile(options.from)
      ) as NewTask | NewDirectTask;
      const made = "targetUrl" in task ? await client.tasks.call(task) : await client.tasks.create(task);
      if (!options.wait) return show(user, options, made, ({ id }) => `${id}\n`);
      user.tell(`Waiting for ${made.id}\n`);
      showEnded(user, options, await client.tasks.wait(made.id));
    });

  serverCommand(tasks, "get", "show a task with its attempts and its result")
    .argument("<task_id>")
    .action(async (id: string, options: ServerOptions) => {
      show(user, options, await (await user.client(options)).tasks.get(id), describeTask);
    });

  serverCommand(tasks, "list", "list tasks, newest first")
    .addOption(new Option("--status <status>", "only tasks in this state").choices(TASK_STATUSES))
    .option("--queue <name>", "only tasks of this queue")
    .option("--tag <tag>", "only tasks with this tag; may be repeated", collect)
    .addOption(
      new Option("--dismissed <flag>", "only dismissed tasks, or only others").choices(["true", "false"]),
    )
    .option("--limit <n>", "maximum number of tasks", readInteger, 20)
    .action(async ({ status, queue, tag, dismissed, limit, ...options }: ListOptions) => {
      const client = await user.client(options);
      const found: TaskSummary[] = [];
      const query = given({ status, queue, tag, dismissed, limit: Math.min(Math.max(limit, 1), 100) });
      if (limit > 0) for await (const task of client.tasks.list(query)) if (found.push(task) >= limit) break;
      showRows(user, options, found, { columns: COLUMNS, none: "No tasks" });
    });

  serverCommand(tasks, "retry", "restart a failed or cancelled task under its id")
    .argument("<task_id>")
    .option("--payload <json>", "another JSON body of the call", readJson)
    .option("--url <url>", "another URL of the call")
    .option("--header <name: value>", "headers instead of all earlier ones; may be repeated", readHeader)
    .action(async (id: string, { payload, url, header, ...options }: RetryOptions) => {
      const client = await user.client(options);
      const isDirect = [payload, url].some(Boolean) && "targetUrl" in (await client.tasks.get(id));
      const names = isDirect ? { body: payload, targetUrl: url } : { payload, webhookUrl: url };
      // The server validates what the payload is.
      const body = given({ ...names, headers: header }) as BodyOf<"retryTask">;
      const task = await client.tasks.retry(id, body);
      show(user, options, task, ({ status }) => `${id} is ${status}\n`);
    });

  serverCommand(tasks, "dismiss", "mark a failed task as one that nobody needs to look at any more")
    .argument("<task_id>")
    .action(async (id: string, options: ServerOptions) => {
      const task = await (await user.client(options)).tasks.dismiss(id);
      show(user, options, task, () => `${id} is dismissed\n`);
    });

  serverCommand(tasks, "cancel", "cancel a task in any state")
    .argument("<task_id>")
    .action(async (id: string, options: ServerOptions) => {
      const task = await (await user.client(options)).tasks.cancel(id);
      show(user, options, task, ({ status }) => `${id} is ${status}\n`);
    });

  serverCommand(tasks, "wait", "wait until a task has ended; exits 1 unless it completed")
    .argument("<task_id>")
    .option("--timeout <seconds>", "maximum wait", readInteger, 300)
    .action(async (id: string, { timeout, ...options }: ServerOptions & { timeout: number }) => {
      const client = await user.client(options);
      user.tell(`Waiting for ${id}\n`);
      showEnded(user, options, await client.tasks.wait(id, { timeoutMs: timeout * 1000 }));
    });

  addTailCommand(tasks, user);
  addTaskBulkCommands(tasks, user);

  serverCommand(program, "explain", "show why a task runs or does not run")
    .argument("<task_id>")
    .action(async (id: string, options: ServerOptions) => {
      const explained = await (await user.client(options)).tasks.explain(id);
      show(user, options, explained, ({ task, runnable, startsAbout, reasons }) => {
        const lines = reasons.map(
          ({ detail, until }) => `  ${printable(detail)}${until === null ? "" : `, until ${timeOf(until)}`}`,
        );
        const why = runnable ? ["  It can run: the next free node starts it"] : lines;
        const when = startsAbout === null || runnable ? [] : [`  It starts about ${timeOf(startsAbout)}`];
        return `${[`${task.id} is ${task.status}`, ...why, ...when].join("\n")}\n`;
      });
    });
}

interface CreateOptions extends ServerOptions {
  readonly from?: string;
  readonly queue: string;
  readonly payload?: unknown;
  readonly delay?: number;
  readonly at?: string;
  readonly priority?: number;
  readonly maxRetries?: number;
  readonly timeout?: number;
  readonly method?: string;
  readonly header?: Readonly<Record<string, string>>;
  readonly tag?: readonly string[];
  readonly onCompleteUrl?: string;
  readonly onFailureUrl?: string;
  readonly dedupeKey?: string;
  readonly dedupeMode: string;
  readonly dedupeWindow: number;
  readonly idempotencyKey?: string;
  readonly wait?: true;
}

interface RetryOptions extends ServerOptions {
  readonly payload?: unknown;
  readonly url?: string;
  readonly header?: Record<string, string>;
}

interface ListOptions extends ServerOptions {
  readonly status?: string;
  readonly queue?: string;
  readonly tag?: string[];
  readonly dismissed?: "true" | "false";
  readonly limit: number;
}

function newTask(url: string, options: CreateOptions): object {
  const { queue, payload, delay, at, priority, maxRetries, timeout, method, header, tag } = options;
  const { idempotencyKey, onCompleteUrl, onFailureUrl, dedupeKey, dedupeMode, dedupeWindow } = options;
  const dedupe =
    dedupeKey === undefined ? undefined : { key: dedupeKey, mode: dedupeMode, window: dedupeWindow };
  return given({
    queue,
    webhookUrl: url,
    payload,
    delay,
    runAt: at,
    priority,
    maxRetries,
    timeout,
    method,
    headers: header,
    tags: tag,
    onCompleteUrl,
    onFailureUrl,
    dedupe,
    idempotencyKey,
  });
}

function showEnded(user: User, options: ServerOptions, task: Task): void {
  show(user, options, task, describeTask);
  if (task.status !== "completed") process.exitCode = 1;
}

const COLUMNS: readonly Column<TaskSummary>[] = [
  { title: "QUEUE", of: ({ queue }) => queue },
  { title: "STATUS", of: ({ status }) => status },
  { title: "CREATED", of: ({ createdAt }) => timeOf(createdAt) },
  { title: "CALLS", of: urlOf },
  { title: "ID", of: ({ id }) => id },
];

function urlOf(task: TaskSummary | Task): string {
  return "targetUrl" in task ? task.targetUrl : task.webhookUrl;
}

function describeTask(task: Task): string {
  const { id, status, queue, createdAt, completedAt, attempts, error, result } = task;
  const lines = [
    `${id}  ${status}`,
    `  queue      ${queue}`,
    `  calls      ${task.method} ${urlOf(task)}`,
    `  created    ${timeOf(createdAt)}`,
    ...(completedAt ? [`  ended      ${timeOf(completedAt)}`] : []),
    ...attempts.map((attempt) => `  attempt ${attempt.number}  ${describeAttempt(attempt)}`),
    ...(error ? [`  error      ${error}`] : []),
    ...(result ? [`  result     ${result.statusCode ?? ""} ${result.body ?? ""}`.trimEnd()] : []),
  ];
  return `${lines.map(printable).join("\n")}\n`;
}

function describeAttempt(attempt: Task["attempts"][number]): string {
  const { status, responseCode, duration, error } = attempt;
  const parts = [status, responseCode, duration === null ? null : `${duration} ms`, error];
  return parts.filter((part) => part !== null && part !== undefined).join(", ");
}
