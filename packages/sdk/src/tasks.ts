import { ApiError, BellhopError, TimeoutError } from "./errors.ts";
import type { Camel, Given } from "./names.ts";
import type { components } from "./openapi.ts";
import type { AnswerOf, BodyOf, Operation, QueryOf, Send } from "./operation.ts";
import { type CreateOptions, checkOptions, REQUEST_OPTIONS, type RequestOptions } from "./options.ts";
import { type Whole, walkPages } from "./pages.ts";
import { sleep } from "./transport.ts";
import { randomKey } from "./web-crypto.ts";

type Schemas = components["schemas"];

export type NewTask = Given<Camel<Schemas["CreateTask"]>>;
export type NewDirectTask = Given<Camel<Schemas["CreateDirectTask"]>>;
/** Whether an earlier request with the same idempotency key created the task. */
type Replay = { readonly replayed: boolean };
export type CreatedTask = Camel<Schemas["CreatedTask"]> & Replay;
export type CreatedDirectTask = Camel<Schemas["NewDirectTask"]> &
  Omit<Camel<Schemas["CreatedDirectTask"]>, "task"> &
  Replay;
export type QueueTask = Camel<Schemas["Task"]>;
export type DirectTask = Camel<Schemas["DirectTask"]>;
export type Task = QueueTask | DirectTask;
export type TaskSummary = Camel<Schemas["TaskSummary"]> | Camel<Schemas["DirectTaskSummary"]>;
export type Bulk = Camel<Schemas["Bulk"]>;
/** The filters of a list. `metadata`: entries that must all be there. */
export type TaskQuery = Omit<QueryOf<"listTasks">, "metadata"> & {
  readonly metadata?: string | Readonly<Record<string, string>> | undefined;
};
export type BulkAction = Omit<BodyOf<"createBulk">, "dryRun">;

const WAIT_MS = 5 * 60_000;
/** Short of what proxies commonly allow an answer to take. */
const LONGEST_WAIT_SECONDS = 25;
/** For the answer to a wait, once that is over. */
const ANSWER_MS = 10_000;
const SHORTEST_LOOK_MS = 250;

export function createTasks(send: Send, operation: Operation) {
  const page = async (query: TaskQuery = {}, options?: RequestOptions) =>
    (await send("listTasks", { query }, options)).answer;
  const bulkPage = operation("listBulks");

  async function create(task: NewTask | NewDirectTask, given: CreateOptions = {}) {
    checkOptions(given, [...REQUEST_OPTIONS, "idempotencyKey"]);
    const { idempotencyKey, ...options } = given;
    // With a key the same request creates one task, so it may be repeated without an answer.
    const key = chosenKey(task.idempotencyKey, idempotencyKey) ?? (await randomKey());
    const input = { body: task, headers: { "idempotency-key": key }, repeatable: true };
    const { answer, headers } = await send("createTask", input, options);
    return { ...flat(answer), replayed: headers.get("idempotent-replayed") === "true" };
  }

  async function get(id: string, options?: RequestOptions): Promise<Task> {
    return recordOf((await send("getTask", { id }, options)).answer);
  }

  async function look(id: string, wait: number, options: RequestOptions): Promise<Task> {
    const timeoutMs = wait * 1000 + ANSWER_MS;
    const looked = send("getTask", { id, query: { wait } }, { ...options, timeoutMs });
    // So many wait already that the server holds no further answer back.
    const waited = await unless("too_many_waiting", looked);
    return waited === null ? get(id, options) : recordOf(waited.answer);
  }

  return {
    /** Creates a queue task. */
    create: (task: NewTask, options?: CreateOptions) => create(task, options) as Promise<CreatedTask>,
    /** Creates a direct task: a request made exactly as given. */
    call: (task: NewDirectTask, options?: CreateOptions) =>
      create(task, options) as Promise<CreatedDirectTask>,
    /**
     * Creates up to 1000 tasks of either kind in one request. A refused one does not affect the others: each has its
     * own result, in the same order. With `atomic` all are stored, or none.
     */
    async createMany(
      tasks: readonly (NewTask | NewDirectTask)[],
      given: RequestOptions & { readonly atomic?: boolean | undefined } = {},
    ): Promise<AnswerOf<"createTasks">> {
      checkOptions(given, [...REQUEST_OPTIONS, "atomic"]);
      const { atomic, ...options } = given;
      const keyed = tasks.map(async (task) => ({
        ...task,
        idempotencyKey: task.idempotencyKey ?? (await randomKey()),
      }));
      const body = { tasks: await Promise.all(keyed), atomic };
      return (await send("createTasks", { body, repeatable: true }, options)).answer;
    },
    get,
    /** One page. */
    page,
    /** All matching tasks, newest first; `limit` is the page size. */
    list: (query: TaskQuery = {}, options?: RequestOptions) =>
      walkPages(
        query,
        (next) => page(next, options),
        (fetched): TaskSummary[] => fetched.tasks,
      ),
    /** Deletes a pending task. */
    delete: operation("deleteTask"),
    /** Cancels a task in any state. */
    cancel: async (id: string, options?: RequestOptions) =>
      recordOf((await send("cancelTask", { id }, options)).answer),
    /** Marks a failed task as one that nobody needs to look at any more. */
    dismiss: async (id: string, options?: RequestOptions) =>
      recordOf((await send("dismissTask", { id }, options)).answer),
    /** Restarts a failed or cancelled task under its id; parts of its call can be replaced. */
    retry: async (id: string, body: BodyOf<"retryTask"> = {}, options?: RequestOptions) =>
      recordOf((await send("retryTask", { id, body }, options)).answer),
    /** Resends the notification of an ended task, after it was delivered or given up. */
    resendNotification: async (id: string, options?: RequestOptions) =>
      recordOf((await send("resendTaskNotification", { id }, options)).answer),
    /** Why a task does not run. */
    explain: operation("explainTask"),
    /** One action on all matching tasks, processed by the server. */
    bulk: {
      async start(body: BulkAction, options?: RequestOptions): Promise<Bulk> {
        const { answer } = await send("createBulk", { body }, options);
        if ("bulk" in answer) return answer.bulk;
        throw new BellhopError("The server has only counted: bulk.count does that");
      },
      /** The number of matching tasks. */
      async count(body: BulkAction, options?: RequestOptions): Promise<number> {
        const input = { body: { ...body, dryRun: true }, repeatable: true };
        const { answer } = await send("createBulk", input, options);
        return "matched" in answer ? answer.matched : answer.bulk.matched;
      },
      /** All bulk actions, newest first. */
      list: (query: QueryOf<"listBulks"> = {}, options?: RequestOptions) =>
        walkPages(
          query,
          (next) => bulkPage(next, options),
          (fetched): Bulk[] => fetched.bulks,
        ),
      get: operation("getBulk", "bulk"),
      stop: operation("stopBulk", "bulk"),
    },
    /** Waits until the task has ended; throws a `TimeoutError` after `timeoutMs`, 5 min. */
    async wait(id: string, options: RequestOptions = {}): Promise<Task> {
      checkOptions(options);
      const { timeoutMs = WAIT_MS, ...others } = options;
      const deadline = Date.now() + timeoutMs;
      for (;;) {
        const askedAt = Date.now();
        const leftMs = Math.max(0, deadline - askedAt);
        // The server answers at the end: one request instead of polling.
        const wait = Math.min(LONGEST_WAIT_SECONDS, Math.ceil(leftMs / 1000));
        const task = await look(id, wait, others);
        if (task.completedAt !== undefined) return task;
        const now = Date.now();
        if (now >= deadline) throw new TimeoutError(`Task ${id} is ${task.status} after ${timeoutMs} ms`);
        // A stopping server answers at once.
        await sleep(Math.max(0, Math.min(askedAt + SHORTEST_LOOK_MS, deadline) - now), options.signal);
      }
    },
  };
}

/** As text that a header can carry; undefined where there is none. */
function chosenKey(ofTask: string | null | undefined, ofRequest: string | undefined): string | undefined {
  if (ofTask != null && ofRequest !== undefined && ofTask !== ofRequest) {
    throw new BellhopError("The task has another idempotencyKey than the options");
  }
  const key = ofRequest ?? ofTask ?? undefined;
  if (key !== undefined && (typeof key !== "string" || !/^[ -~]{1,255}$/.test(key))) {
    throw new BellhopError("idempotencyKey must be 1 to 255 printable ASCII characters");
  }
  return key;
}

function recordOf(answer: AnswerOf<"getTask">): Task {
  return "task" in answer ? answer.task : answer;
}

/** A direct task stands in an envelope, beside its callback. */
function flat(answer: object): object {
  if (!("task" in answer)) return answer;
  const { task, ...callback } = answer;
  return { ...(task as object), ...callback };
}

export function createQueues(operation: Operation, whole: Whole) {
  const get = operation("getQueue");
  const create = operation("createQueue");
  const update = operation("updateQueue");

  return {
    create,
    get,
    list: whole("listQueues", "queues"),
    update,
    delete: operation("deleteQueue"),
    pause: operation("pauseQueue"),
    resume: operation("resumeQueue"),
    /** Ensures that the queue exists with these settings. Sends a change only if needed. */
    async ensure(
      { name, ...settings }: Parameters<typeof create>[0],
      options?: RequestOptions,
    ): Promise<Awaited<ReturnType<typeof update>>> {
      const known = await unless("queue_not_found", get(name, options));
      const made = known ?? (await unless("queue_exists", create({ name, ...settings }, options)));
      // Another process was faster.
      const { stats: _stats, ...queue } = { stats: null, ...(made ?? (await get(name, options))) };
      const current: Record<string, unknown> = queue;
      const isAsWanted = Object.entries(settings).every(
        ([field, value]) => value == null || JSON.stringify(current[field]) === JSON.stringify(value),
      );
      return isAsWanted ? queue : update(name, settings, options);
    },
  };
}

async function unless<Value>(code: string, answer: Promise<Value>): Promise<Value | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.code === code) return null;
    throw error;
  }
}
