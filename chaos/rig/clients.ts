import { setTimeout as sleep } from "node:timers/promises";
import { freeKey } from "../checker/flows.ts";
import { NO_WISH } from "../checker/outside/wishes.ts";
import { type Api, createApi, type Told } from "./api.ts";
import { createAsking, RETRY_MS } from "./asking.ts";
import { createFleetingTasks } from "./fleeting-tasks.ts";
import { createGuardedTasks } from "./guarded-tasks.ts";
import type { Node } from "./node.ts";
import { createQueueClients, GUARDED, QUEUES, SHORT_LIVED } from "./queue-clients.ts";
import type { Random } from "./random.ts";
import { createScheduleClients } from "./schedule-clients.ts";
import type { Target } from "./target.ts";
import { drawTask, type Mix, readCallbackId, readTaskId, type TaskRequest } from "./task-requests.ts";

/** So that each queue has something to do most of the time, and none more than it can do; the last is another team's. */
const SHARES = { steady: 10, narrow: 1, moody: 5, brief: 4, neighbour: 3 } as const;
const NEIGHBOUR = { name: "neighbour", concurrency: 3 } as const;
/** What the clients do, one after the other. */
const SHARES_OF_WORK = {
  create: 60,
  plain: 12,
  again: 8,
  remove: 10,
  read: 10,
  rated: 12,
  fragile: 12,
  deduped: 10,
  fleeting: 8,
} as const;
/** In this time, every node learns which flows have tasks that another node stored. */
const KNOWN_MS = 7_000;
/** Tasks that fail once or twice, and are retried by nothing but bulk actions. */
const AGAIN = "again";

export interface Clients {
  /** Creates the queues, until each is answered well, and warms the nodes up. */
  prepare(): Promise<void>;
  /** Works until it is told to stop; then, once nobody restarts nodes any more, leaves every queue running. */
  work(signal: AbortSignal, restarts: Promise<void>): Promise<void>;
  /** Fills a queue of one slot while it is paused, and lets it go: the order in which it starts is looked at. */
  tryOrder(): Promise<string>;
  /** Creates a task of the fragile target, which is healthy again: it closes a breaker for which no task waits. */
  tryFragile(): Promise<void>;
  /** Creates one last task: a reader that is told of it has been told of every event before it. Null if no node accepted it. */
  last(queue: "moody" | "neighbour"): Promise<string | null>;
}

/** What programs ask of Bellhop, at any node that comes to hand, through everything. */
export function createClients(deps: {
  readonly api: Api;
  readonly nodes: readonly Node[];
  readonly random: Random;
  readonly target: Target;
  /** The API key of another team. */
  readonly neighbour: string;
  readonly mix: Mix;
  /** Tasks a second, of all clients together. */
  readonly rate: number;
}): Clients {
  const { api, nodes, random } = deps;
  const { url: target } = deps.target;
  const asking = createAsking(nodes, random);
  const { anyNode, retryRequest } = asking;
  const queues = createQueueClients(api, asking, random);
  const schedules = createScheduleClients(api, asking, random, target);
  const guarded = createGuardedTasks({ api, asking, random, target: deps.target });
  const background = new Set<Promise<unknown>>();
  const deletable: Owned[] = [];
  let count = 0;

  function later(work: Promise<unknown>): void {
    const running: Promise<unknown> = work.finally(() => background.delete(running));
    background.add(running);
  }

  function create(request: TaskRequest, node: Node): Promise<Told> {
    const { body, queue, nonce, idempotencyKey, wish } = request;
    const headers: Record<string, string> =
      idempotencyKey === null ? {} : { "idempotency-key": idempotencyKey };
    const asked = { action: "create", method: "POST", path: "/v1/tasks", carried: nonce } as const;
    return api.ask({ ...asked, node, body, queue, headers, wish, ...keyOf(queue) }, readTaskId);
  }

  function keyOf(queue: string): { key?: string } {
    return queue === NEIGHBOUR.name ? { key: deps.neighbour } : {};
  }

  /** One of no dialect's special fields: most tasks are. */
  function plain(
    queue: string,
    behaviour: string,
    more: { readonly priority?: number; readonly flow?: string; readonly [field: string]: unknown } = {},
  ): TaskRequest {
    count += 1;
    const nonce = `n-${count}`;
    const webhook_url = `${target}/call/${behaviour}&nonce=${nonce}`;
    const body = { queue, webhook_url, payload: { nonce }, ...more };
    const wish = { ...NO_WISH, priority: more.priority ?? NO_WISH.priority, flow: more.flow ?? null };
    return { body, queue, nonce, idempotencyKey: null, waits: false, delaySeconds: 0, wish };
  }

  async function createTask(): Promise<void> {
    count += 1;
    const queue = random.weighted(SHARES);
    const nonce = `${queue === NEIGHBOUR.name ? "neighbour" : "n"}-${count}`;
    const request = drawTask(random, deps.mix, queue, target, nonce);
    // Some come twice at once, at two nodes.
    if (request.idempotencyKey !== null && random.chance(0.3))
      later(create(request, anyNode()).then(() => {}));
    const told =
      request.idempotencyKey === null
        ? await create(request, anyNode())
        : await retryRequest((node) => create(request, node));
    const taskId = readTaskId(told.body);
    if (told.status !== 201 || taskId === null) return;
    const callbackId = readCallbackId(told.body);
    if (request.waits && callbackId !== null) {
      later(callBack(taskId, callbackId, `${nonce}:1`));
      // Some third parties call back twice, at two nodes and nearly at once.
      if (random.chance(0.4)) later(callBack(taskId, callbackId, `${nonce}:2`));
    }
    const owned = { taskId, ...keyOf(queue) };
    if (request.delaySeconds > 0 || random.chance(0.1)) deletable.push(owned);
    else if (random.chance(0.12)) later(cancelTask(owned));
  }

  async function callBack(taskId: string, callbackId: string, name: string): Promise<void> {
    const localAddress = `127.1.${random.between(0, 255)}.${random.between(1, 254)}`;
    await sleep(random.chance(0.3) ? 2_500 : random.between(50, 5_000));
    for (let left = 10; left > 0; left -= 1) {
      const path = `/v1/callbacks/${callbackId}`;
      const carried = `${name}:${left}`;
      const asked = { action: "callback", method: "POST", path, body: { value: carried }, carried } as const;
      const told = await api.ask({ ...asked, node: anyNode(), taskId, localAddress });
      if (told.status === 404) return;
      // One that was accepted is tried once more, soon after: it must not be accepted again.
      if (told.status === 200) left = Math.min(left, 2);
      await sleep(random.between(500, 2_500));
    }
  }

  async function deleteTask(): Promise<void> {
    const owned = deletable.splice(random.between(0, Math.max(0, deletable.length - 1)), 1)[0];
    if (owned === undefined) return;
    const path = `/v1/tasks/${owned.taskId}`;
    await api.ask({ action: "delete-task", node: anyNode(), method: "DELETE", path, ...owned });
  }

  /** At any moment of its life: while it waits for its turn, is called, polled or waits for its callback, or has ended. */
  async function cancelTask(owned: Owned): Promise<void> {
    await sleep(random.chance(0.5) ? random.between(0, 50) : random.between(50, 3_000));
    const path = `/v1/tasks/${owned.taskId}/cancel`;
    await api.ask({ action: "cancel", node: anyNode(), method: "POST", path, ...owned });
  }

  async function read(): Promise<void> {
    const path = random.pick(["/v1/queues", "/v1/tasks?limit=20", "/v1/queues/steady"]);
    await api.ask({ action: "read", node: anyNode(), method: "GET", path });
  }

  async function createAgain(): Promise<void> {
    const fails = `error?until=${random.between(1, 2)}`;
    const request = plain(QUEUES.steady.name, fails, { max_retries: 0, tags: [AGAIN] });
    await create(request, anyNode());
  }

  async function createPlain(): Promise<void> {
    const queue = random.pick([QUEUES.steady, QUEUES.moody]).name;
    await create(plain(queue, `ok?ms=${random.between(5, 300)}`), anyNode());
  }

  /** Whether it was answered or not: one that was begun goes on, and the next takes what is left. */
  async function retryAll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(random.between(500, 3_000));
      const body = { action: "retry", filter: { tag: AGAIN, status: "failed" }, rate: random.between(1, 30) };
      await api.ask({ action: "bulk", node: anyNode(), method: "POST", path: "/v1/tasks/bulk", body });
    }
  }

  const WORK = {
    create: createTask,
    plain: createPlain,
    again: createAgain,
    remove: deleteTask,
    read,
    rated: guarded.rated,
    fragile: guarded.fragile,
    fleeting: createFleetingTasks({ api, asking, random, tasks: guarded, bulkTag: AGAIN }),
    deduped: () => guarded.deduped(QUEUES.steady.name),
  } as const satisfies Record<keyof typeof SHARES_OF_WORK, () => Promise<unknown>>;

  async function submit(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      later(WORK[random.weighted(SHARES_OF_WORK)]());
      await sleep(random.next() * 2 * (800 / deps.rate));
    }
  }

  return {
    async prepare() {
      for (const queue of [...Object.values(QUEUES), ...Object.values(GUARDED), SHORT_LIVED])
        await queues.create(queue, RETRY_MS.calm);
      await queues.create(NEIGHBOUR, RETRY_MS.calm, deps.neighbour);
      await schedules.prepare();
      // The first requests of a process are its slowest, and say nothing about faults.
      const unheard = createApi();
      for (const node of [...nodes, ...nodes, ...nodes]) {
        const { body } = plain(QUEUES.steady.name, "ok?");
        await unheard.ask({ action: "create", node, method: "POST", path: "/v1/tasks", body });
        await unheard.ask({ action: "read", node, method: "GET", path: "/v1/tasks" });
      }
    },
    async work(signal, restarts) {
      const managed = queues.manage(signal);
      await Promise.all([submit(signal), managed, schedules.work(signal, later), retryAll(signal)]);
      while (background.size > 0) await Promise.all(background);
      await restarts;
      await queues.settle();
      await schedules.settle();
    },
    async tryOrder() {
      const queue = "ordered";
      await queues.create({ name: queue, concurrency: 1 }, RETRY_MS.calm);
      await queues.set("pause", queue, RETRY_MS.calm);
      for (let left = 15; left > 0; left -= 1) {
        const flow = random.chance(0.5) ? { flow: freeKey(random.between(1, 5)) } : {};
        const request = plain(queue, "ok?ms=20", { priority: random.between(1, 10), ...flow });
        await retryRequest((node) => create(request, node));
      }
      await sleep(KNOWN_MS);
      await queues.set("resume", queue, RETRY_MS.calm);
      return queue;
    },
    async tryFragile() {
      await retryRequest(guarded.fragile, RETRY_MS.calm);
    },
    async last(queue) {
      const request = plain(queue, "ok?");
      const told = await retryRequest((node) => create(request, node), RETRY_MS.calm);
      return readTaskId(told.body);
    },
  };
}

/** A task, and the key of its team where that is not the usual one. */
interface Owned {
  readonly taskId: string;
  readonly key?: string;
}
