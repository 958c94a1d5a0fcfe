import { setTimeout as sleep } from "node:timers/promises";
import { type Api, createApi, type Told } from "./api.ts";
import { now } from "./clock.ts";
import type { Node } from "./node.ts";
import type { Random } from "./random.ts";
import {
  drawTask,
  isRecord,
  type Mix,
  readCallbackId,
  readTaskId,
  type TaskRequest,
} from "./task-requests.ts";

/** One that is never touched, a narrow one, one that is paused and resized, one that comes and goes. */
export const QUEUES = {
  steady: { name: "steady", concurrency: 8 },
  narrow: { name: "narrow", concurrency: 1 },
  moody: { name: "moody", concurrency: 4 },
  brief: { name: "brief", concurrency: 3 },
} as const;
/** So that each has something to do most of the time, and none more than it can do. */
const SHARES = { steady: 10, narrow: 1, moody: 5, brief: 4 } as const;

/** A schedule that fires all the time, and those that come and go, a new one every second. */
const EVERY_SECOND = "* * * * * *";
const STEADY_SCHEDULE = "steady";
/** Tasks that fail once or twice, and are retried by nothing but bulk actions. */
const AGAIN = "again";

/** How long a client repeats what must be done, during faults and after them. */
const INSIST_MS = { storm: 5_000, calm: 20_000 } as const;

export interface Clients {
  /** Creates the queues, until each is answered well, and warms the nodes up. */
  prepare(): Promise<void>;
  /** Works until it is told to stop, then leaves every queue running. */
  work(signal: AbortSignal): Promise<void>;
  /** Fills a queue of one slot while it is paused, and lets it go: the order in which it starts is looked at. */
  tryOrder(): Promise<string>;
}

/** What programs ask of Bellhop, at any node that comes to hand, through everything. */
export function createClients(deps: {
  readonly api: Api;
  readonly nodes: readonly Node[];
  readonly random: Random;
  readonly target: string;
  readonly mix: Mix;
  /** Tasks a second, of all clients together. */
  readonly rate: number;
}): Clients {
  const { api, nodes, random } = deps;
  const background = new Set<Promise<void>>();
  const deletable: string[] = [];
  let count = 0;

  function later(work: Promise<void>): void {
    const running = work.finally(() => background.delete(running));
    background.add(running);
  }

  const anyNode = () => random.pick(nodes);

  /** Again, at another node, until somebody says yes or a reason why not. */
  async function insist(ask: (node: Node) => Promise<Told>, forMs: number = INSIST_MS.storm): Promise<Told> {
    const untilMs = now() + forMs;
    let told = await ask(anyNode());
    while (now() < untilMs && (told.status === null || told.status >= 500)) {
      await sleep(random.between(200, 900));
      told = await ask(anyNode());
    }
    return told;
  }

  function create(request: TaskRequest, node: Node): Promise<Told> {
    const { body, queue, key } = request;
    const headers: Record<string, string> = key === null ? {} : { "idempotency-key": key };
    return api.ask(
      { action: "create", node, method: "POST", path: "/v1/tasks", body, queue, headers },
      readTaskId,
    );
  }

  async function createTask(): Promise<void> {
    count += 1;
    const queue = random.weighted(SHARES);
    const request = drawTask(random, deps.mix, queue, deps.target, String(count));
    // Some come twice at once, at two nodes.
    if (request.key !== null && random.chance(0.3)) later(create(request, anyNode()).then(() => {}));
    const told =
      request.key === null ? await create(request, anyNode()) : await insist((node) => create(request, node));
    const taskId = readTaskId(told.body);
    if (told.status !== 201 || taskId === null) return;
    const callbackId = readCallbackId(told.body);
    if (request.waits && callbackId !== null) later(callBack(taskId, callbackId));
    if (request.delaySeconds > 0 || random.chance(0.1)) deletable.push(taskId);
    else if (random.chance(0.12)) later(cancelTask(taskId));
  }

  async function callBack(taskId: string, callbackId: string): Promise<void> {
    const localAddress = `127.1.${random.between(0, 255)}.${random.between(1, 254)}`;
    await sleep(random.between(50, 5_000));
    for (let left = 10; left > 0; left -= 1) {
      const path = `/v1/callbacks/${callbackId}`;
      const body = { done: true };
      const node = anyNode();
      const told = await api.ask({
        action: "callback",
        node,
        method: "POST",
        path,
        body,
        taskId,
        localAddress,
      });
      if (told.status === 200 || told.status === 404) return;
      await sleep(random.between(500, 2_500));
    }
  }

  async function deleteTask(): Promise<void> {
    const taskId = deletable.splice(random.between(0, Math.max(0, deletable.length - 1)), 1)[0];
    if (taskId === undefined) return;
    await api.ask({
      action: "delete-task",
      node: anyNode(),
      method: "DELETE",
      path: `/v1/tasks/${taskId}`,
      taskId,
    });
  }

  /** At any moment of its life: while it waits for its turn, is called, polled or waits for its callback, or has ended. */
  async function cancelTask(taskId: string): Promise<void> {
    await sleep(random.chance(0.5) ? random.between(0, 50) : random.between(50, 3_000));
    const path = `/v1/tasks/${taskId}/cancel`;
    await api.ask({ action: "cancel", node: anyNode(), method: "POST", path, taskId });
  }

  async function setQueue(action: "pause" | "resume", queue: string, forMs?: number): Promise<void> {
    const path = `/v1/queues/${queue}/${action}`;
    await insist((node) => api.ask({ action, node, method: "POST", path, queue }), forMs);
  }

  async function changeLimit(queue: string, concurrency: number, forMs?: number): Promise<void> {
    const path = `/v1/queues/${queue}`;
    await insist(
      (node) => api.ask({ action: "limit", node, method: "PATCH", path, queue, body: { concurrency } }),
      forMs,
    );
  }

  async function createQueue(queue: { name: string; concurrency: number }, forMs?: number): Promise<void> {
    const body = { ...queue, retry_backoff: "fixed", retry_delay: 1, max_retries: 2, timeout: 3 };
    await insist(
      (node) =>
        api.ask({
          action: "create-queue",
          node,
          method: "POST",
          path: "/v1/queues",
          queue: queue.name,
          body,
        }),
      forMs,
    );
  }

  async function renewQueue(): Promise<void> {
    const { name } = QUEUES.brief;
    await insist((node) =>
      api.ask({ action: "delete-queue", node, method: "DELETE", path: `/v1/queues/${name}`, queue: name }),
    );
    await sleep(random.between(0, 500));
    await createQueue(QUEUES.brief);
  }

  async function pauseForAWhile(): Promise<void> {
    const { name } = QUEUES.moody;
    await setQueue("pause", name);
    await sleep(random.between(300, 3_000));
    await setQueue("resume", name);
  }

  async function read(): Promise<void> {
    const path = random.pick(["/v1/queues", "/v1/tasks?limit=20", "/v1/queues/steady"]);
    await api.ask({ action: "read", node: anyNode(), method: "GET", path });
  }

  /** One after the other: two that pause and resume the same queue would not know what to expect of each other. */
  async function manage(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const what = random.weighted({ limit: 4, pause: 3, renew: 2 });
      if (what === "limit") await changeLimit(QUEUES.moody.name, random.between(1, 5));
      else if (what === "pause") await pauseForAWhile();
      else await renewQueue();
      await sleep(random.between(500, 2_500));
    }
  }

  async function putSchedule(name: string, forMs?: number): Promise<void> {
    const task = { queue: QUEUES.steady.name, webhook_url: `${deps.target}/call/ok?ms=5` };
    const body = { cron: EVERY_SECOND, task };
    const path = `/v1/schedules/${name}`;
    await insist((node) => api.ask({ action: "schedule", node, method: "PUT", path, body }), forMs);
  }

  async function endSchedule(name: string, forMs?: number): Promise<void> {
    const path = `/v1/schedules/${name}`;
    await insist((node) => api.ask({ action: "schedule", node, method: "DELETE", path }), forMs);
  }

  async function passSchedule(name: string): Promise<void> {
    await putSchedule(name);
    await sleep(random.between(500, 6_000));
    await endSchedule(name);
  }

  async function schedule(signal: AbortSignal): Promise<void> {
    for (let made = 1; !signal.aborted; made += 1) {
      later(passSchedule(`brief-${made}`));
      await sleep(1_000);
    }
  }

  /** Also those whose end got no answer. */
  async function endSchedules(): Promise<void> {
    const path = "/v1/schedules";
    const { body } = await insist(
      (node) => api.ask({ action: "read", node, method: "GET", path }),
      INSIST_MS.calm,
    );
    const schedules = isRecord(body) && Array.isArray(body.schedules) ? body.schedules : [];
    for (const { name } of schedules) await endSchedule(name, INSIST_MS.calm);
  }

  async function createAgain(): Promise<void> {
    const queue = QUEUES.steady.name;
    const webhook_url = `${deps.target}/call/error?until=${random.between(1, 2)}`;
    const body = { queue, webhook_url, max_retries: 0, tags: [AGAIN] };
    await create({ body, queue, key: null, waits: false, delaySeconds: 0 }, anyNode());
  }

  /** Whether it was answered or not: one that was begun goes on, and the next takes what is left. */
  async function retryAll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(random.between(500, 3_000));
      const body = { action: "retry", filter: { tag: AGAIN, status: "failed" }, rate: random.between(1, 30) };
      await api.ask({ action: "bulk", node: anyNode(), method: "POST", path: "/v1/tasks/bulk", body });
    }
  }

  async function submit(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const what = random.weighted({ create: 72, again: 8, remove: 10, read: 10 });
      if (what === "create") later(createTask());
      else if (what === "again") later(createAgain());
      else if (what === "remove") later(deleteTask());
      else later(read());
      await sleep(random.next() * 2 * (800 / deps.rate));
    }
  }

  return {
    async prepare() {
      for (const queue of Object.values(QUEUES)) await createQueue(queue, INSIST_MS.calm);
      await putSchedule(STEADY_SCHEDULE, INSIST_MS.calm);
      // The first requests of a process are its slowest, and say nothing about faults.
      const unheard = createApi();
      for (const node of [...nodes, ...nodes, ...nodes]) {
        const body = { queue: QUEUES.steady.name, webhook_url: `${deps.target}/call/ok` };
        await unheard.ask({ action: "create", node, method: "POST", path: "/v1/tasks", body });
        await unheard.ask({ action: "read", node, method: "GET", path: "/v1/tasks" });
      }
    },
    async work(signal) {
      await Promise.all([submit(signal), manage(signal), schedule(signal), retryAll(signal)]);
      while (background.size > 0) await Promise.all(background);
      // A pause whose resume got no answer must not be taken for a task that is stuck.
      await setQueue("resume", QUEUES.moody.name, INSIST_MS.calm);
      await changeLimit(QUEUES.moody.name, 8, INSIST_MS.calm);
      await createQueue(QUEUES.brief, INSIST_MS.calm);
      await endSchedules();
    },
    async tryOrder() {
      const queue = "ordered";
      await createQueue({ name: queue, concurrency: 1 }, INSIST_MS.calm);
      await setQueue("pause", queue, INSIST_MS.calm);
      for (let left = 15; left > 0; left -= 1) {
        const priority = random.between(1, 10);
        const body = { queue, webhook_url: `${deps.target}/call/ok?ms=20`, priority };
        await insist((node) => create({ body, queue, key: null, waits: false, delaySeconds: 0 }, node));
      }
      await setQueue("resume", queue, INSIST_MS.calm);
      return queue;
    },
  };
}
