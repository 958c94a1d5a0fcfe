import type { Action } from "../../chaos/checker/history.ts";
import type { Random } from "../../chaos/rig/random.ts";
import type { QueueSettings } from "../../packages/server/src/domain/queue.ts";
import type { NewTask } from "../../packages/server/src/domain/task.ts";
import type { TaskRequest } from "../../packages/server/src/domain/task-copies.ts";
import type { Server } from "../server.ts";
import { newTask, QUEUES, type QueueName, retold, TEAM, taskId } from "./new-tasks.ts";
import { createNodeTasks, type SimulatedNode } from "./node.ts";
import type { Orderly } from "./order.ts";
import { START_OF_TIME_MS } from "./process.ts";
import { type About, type OnAnswer, REQUESTER, type Requests, type Work } from "./requests.ts";
import type { Scheduler } from "./scheduler.ts";

/** Those who use the API. */
export interface Clients {
  /** One request that chance decides on, at any node. */
  act(): void;
  /** Resumes every queue, and asks until it is so. */
  resumeAll(): void;
  /** No failed task stops a line any more; asks until it is so. */
  unblock(): void;
  /** A schedule that fires every second, and is asked for until it is there. */
  schedule(): void;
  /** Pauses it, and asks until it is so. */
  endSchedules(): void;
}

export function createClients(options: {
  readonly server: Server;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly requests: Requests;
  /** The queue in strict order; null: none is. */
  readonly orderly: Orderly | null;
  readonly hasFlows: boolean;
}): Clients {
  const { server, scheduler, requests, random, orderly } = options;
  const tasks: NewTask[] = [];
  /** A task that is retried is not cancelled for good, and the checker holds a cancel to its word. */
  const retried = new Set<string>();
  const cancelled = new Set<string>();
  let bulks = 0;

  function request(action: Action, about: About, work: Work, onAnswer?: OnAnswer): void {
    requests.send(random, action, about, work, onAnswer);
  }

  function create(): void {
    const task = newTask(tasks.length, random, options.hasFlows);
    tasks.push(task);
    send(task);
    // While it is claimed, or called.
    if (random.chance(0.1)) scheduler.after(random.next() * 1_000, () => cancel(task));
    // The same request again, as a client does that heard nothing: under one key there is one task.
    if (task.idempotency !== null && random.chance(0.5)) send(retold(task, taskId(tasks.length + 10_000)));
  }

  function send(task: NewTask): void {
    request("create", { taskId: task.id, queue: task.queue }, async ({ engine }) => {
      const accepted = await engine.submit(task);
      return accepted === null ? 404 : 201;
    });
  }

  function remove(): void {
    const task = random.pick(tasks);
    request("delete-task", { taskId: task.id }, async ({ databases: { api } }) => {
      const isGone = await api.transaction((sql) => server.removePendingTask(sql, REQUESTER, task.id));
      if (isGone) return 200;
      return (await server.taskStatus(api, REQUESTER, task.id)) === null ? 404 : 409;
    });
  }

  function cancel(task: NewTask): void {
    if (retried.has(task.id)) return;
    cancelled.add(task.id);
    request("cancel", { taskId: task.id }, async (node) => {
      await createNodeTasks(server, node).cancel(REQUESTER, task.id);
      return 200;
    });
  }

  /** Cancels or retries several tasks: the newest, which are called at this moment, or any. */
  function actOnMany(): void {
    const action = random.pick(["cancel", "retry"] as const);
    const [same, other] = action === "cancel" ? [cancelled, retried] : [retried, cancelled];
    const chosen = random.chance(0.5) ? tasks.slice(-8) : tasks.filter(() => random.chance(0.5));
    const ids = chosen.map(({ id }) => id).filter((id) => !other.has(id));
    for (const id of ids) {
      same.add(id);
      if (action === "cancel") noteAsked(id);
    }
    bulks += 1;
    const rate = random.pick([2, 10, 1_000]);
    const bulk = { id: taskId(90_000 + bulks), action, rate, matched: ids.length };
    request("bulk", {}, async ({ databases: { api } }) => {
      await api.transaction(async (sql) => {
        if (ids.length > 0) await server.insertPortion(sql, TEAM, bulk.id, 0, ids);
        await server.insertBulk(sql, REQUESTER, bulk);
      });
      return 200;
    });
  }

  /** That a bulk action is to cancel a task: whether it does depends on what the task does when its turn comes. */
  function noteAsked(id: string): void {
    const at = scheduler.nowMs;
    requests.note({
      action: "cancel",
      node: 0,
      at,
      endedAt: at,
      status: null,
      failure: "reset",
      taskId: id,
      queue: null,
      carried: null,
    });
  }

  function callBack(): void {
    const task = random.pick(tasks);
    const { callback } = task;
    if (callback === null) return;
    request("callback", { taskId: task.id }, async ({ databases: { api }, changes }) => {
      const result = { statusCode: 200, headers: {}, body: "{}", duration: 0 };
      const found = await server.resolveCallback(api, callback.hash, result);
      if (found === null) return (await server.callbackStatus(api, callback.hash)) === null ? 404 : 409;
      changes.ended(found, "completed", found.notify);
      return 200;
    });
  }

  function setPaused(paused: boolean, queue: QueueName, onAnswer?: (status: number | null) => void): void {
    const work = async ({ databases: { api } }: SimulatedNode) => {
      await server.createQueueService({ database: api }).setPaused(REQUESTER, queue, paused);
      return 200;
    };
    request(paused ? "pause" : "resume", { queue }, work, onAnswer);
  }

  function resize(): void {
    const queue = random.pick(QUEUES);
    const concurrency = random.between(1, 4);
    const changes = queue === orderly?.queue ? changeOfOrder(orderly) : { concurrency };
    request("limit", { queue }, async ({ databases: { api } }) => {
      await server.createQueueService({ database: api }).update(REQUESTER, queue, changes);
      return 200;
    });
  }

  function changeOfOrder({ random: own }: Orderly): Partial<QueueSettings> {
    if (own.chance(0.2)) return { ordered: false, concurrency: own.between(1, 3) };
    return { ordered: true, onFailure: own.pick(["continue", "block"] as const) };
  }

  function replaceQueue(): void {
    const queue = random.pick(QUEUES);
    request("delete-queue", { queue }, async ({ databases: { api } }) => {
      await server.createQueueService({ database: api }).remove(REQUESTER, queue);
      return 200;
    });
    scheduler.after(random.next() * 2_000, () => createQueue(queue, () => {}));
  }

  function createQueue(queue: QueueName, onAnswer: (status: number | null) => void): void {
    const work = async ({ databases: { api } }: SimulatedNode) => {
      const usual = { concurrency: random.between(1, 3), retryDelaySeconds: 1 };
      const settings = queue === orderly?.queue ? { retryDelaySeconds: 1, ordered: true } : usual;
      await server.createQueueService({ database: api }).create(REQUESTER, queue, settings);
      return 201;
    };
    request("create-queue", { queue }, work, onAnswer);
  }

  return {
    schedule() {
      requests.insist(random, "schedule", {}, async ({ databases: { api } }) => {
        await server.insertSchedule(api, REQUESTER, {
          ...SCHEDULE,
          nextRunAt: new Date(START_OF_TIME_MS + 1_000),
        });
        return 201;
      });
    },
    endSchedules() {
      requests.insist(random, "schedule", {}, async ({ databases: { api } }) => {
        await server.updateSchedule(api, { teamId: TEAM, id: SCHEDULE.id }, { ...SCHEDULE, nextRunAt: null });
        return 200;
      });
    },
    act() {
      const action = random.weighted({
        create: 10,
        remove: tasks.length > 0 ? 3 : 0,
        callBack: tasks.length > 0 ? 3 : 0,
        cancel: tasks.length > 0 ? 2 : 0,
        pause: 1,
        resume: 1,
        resize: 1,
        replaceQueue: 0.2,
        actOnMany: tasks.length > 0 ? 2 : 0,
      });
      if (action === "create") return create();
      if (action === "remove") return remove();
      if (action === "callBack") return callBack();
      if (action === "cancel") return cancel(random.pick(tasks));
      if (action === "resize") return resize();
      if (action === "actOnMany") return actOnMany();
      return action === "replaceQueue" ? replaceQueue() : setPaused(action === "pause", random.pick(QUEUES));
    },
    unblock() {
      if (orderly === null) return;
      const { queue } = orderly;
      requests.insist(random, "limit", { queue }, async ({ databases: { api } }) => {
        await server
          .createQueueService({ database: api })
          .update(REQUESTER, queue, { onFailure: "continue" });
        return 200;
      });
    },
    resumeAll() {
      for (const queue of QUEUES) {
        const again = (): void =>
          setPaused(false, queue, (status) => {
            if (status === null || status >= 500) scheduler.after(100, again);
          });
        again();
      }
    },
  };
}

const SCHEDULE = {
  id: taskId(80_000),
  name: "every-second",
  cron: "* * * * * *",
  timezone: "UTC",
  overlap: "allow",
  catchUp: "one",
  paused: false,
  aheadSeconds: 0,
  // What it makes is said by the cluster.
  task: { text: "{}", request: {} as TaskRequest },
} as const;
