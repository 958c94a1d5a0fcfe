import type { Joins } from "../../chaos/checker/history.ts";
import type { NewTask } from "../../packages/server/src/domain/task.ts";
import type { Joined } from "../../packages/server/src/service/tasks/task-joins.ts";
import type { Feature, FeatureParts } from "./feature.ts";
import { plainTask, QUEUES, type QueueName, TEAM, taskId } from "./new-tasks.ts";
import { noVault, type SimulatedNode } from "./node.ts";
import { type About, REQUESTER } from "./requests.ts";

const FIRST_ID = 110_000;
/** No window and no longest wait is longer. */
const LONGEST_MS = 7_000;

/** All requests of a key have its mode and queue. */
interface Key {
  readonly name: string;
  readonly mode: Joins["mode"];
  readonly queue: QueueName;
  readonly windowSeconds: number;
  readonly maxWaitSeconds: number | null;
}

interface Asked {
  readonly task: NewTask;
  readonly about: About;
}

/** Requests with deduplication keys of each mode, in bursts: one by one at any node, several at one node, or all or none. */
export function createDedupedTasks({ server, scheduler, requests, random }: FeatureParts): Feature {
  const keys = (["first", "replace", "debounce"] as const).flatMap((mode) =>
    Array.from({ length: random.between(1, 2) }, (_, index) => keyOf(mode, index)),
  );
  const known = new Set<string>();
  let tasks = 0;
  let isDone = false;

  function keyOf(mode: Joins["mode"], index: number): Key {
    const windowSeconds = random.between(1, 4);
    const maxWaitSeconds =
      mode === "debounce" && random.chance(0.7) ? windowSeconds + random.between(0, 3) : null;
    return { name: `${mode} ${index}`, mode, queue: random.pick(QUEUES), windowSeconds, maxWaitSeconds };
  }

  function ask({ name: key, mode, queue, ...times }: Key): Asked[] {
    tasks += 1;
    const request = `request ${tasks}`;
    // How old the task may be, a request that replaces it says itself.
    const windowSeconds =
      mode === "replace" ? times.windowSeconds + random.between(0, 1) : times.windowSeconds;
    const { maxWaitSeconds } = times;
    const delaySeconds = { first: 0, replace: random.pick([0, 1, 3, 6]), debounce: windowSeconds }[mode];
    const idempotency = random.chance(0.15)
      ? { key: request, requestHash: "00", callbackSealed: null }
      : null;
    const make = (): Asked => {
      const id = taskId(FIRST_ID + tasks);
      const plain = plainTask(id, queue);
      const task = {
        ...plain,
        ...{ delaySeconds, idempotency },
        call: { ...plain.call, body: JSON.stringify({ request }) },
        dedupe: { key, mode, windowSeconds, maxWaitSeconds, callbackSealed: null },
      };
      const maxWaitMs = maxWaitSeconds === null ? null : maxWaitSeconds * 1_000;
      const joins = { key, mode, windowMs: windowSeconds * 1_000, maxWaitMs, request };
      return { task, about: { taskId: id, queue, joins } };
    };
    const first = make();
    if (idempotency === null) return [first];
    // The same request again, as a client does that heard nothing.
    tasks += 1;
    return [first, make()];
  }

  function send(asked: readonly Asked[], isTogether: boolean, onAnswer = () => {}): void {
    requests.send(
      random,
      "create",
      asked.map(({ about }) => about),
      async (node) => {
        const items = asked.map(({ task }) => task);
        const joined = isTogether
          ? await joinTogether(node, items)
          : await Promise.all(items.map((task) => node.deduplication.submit(task).catch(refusal)));
        const found = await Promise.all(joined.map((each, index) => show(node, items[index], each)));
        for (const [index, each] of found.entries()) note(asked[index], each);
        return 200;
      },
      onAnswer,
    );
  }

  /** One item's refusal is not that of the others. */
  function refusal(error: unknown): Joined {
    if (error instanceof server.Problem) return error;
    throw error;
  }

  /** As `createTogether` does. */
  function joinTogether({ databases: { api }, changes }: SimulatedNode, items: readonly NewTask[]) {
    return api
      .transaction(async (sql) => {
        const joined = await server.joinTasks(sql, items, noVault);
        for (const result of joined.results) {
          if (result instanceof server.Problem) throw result;
          if (result === null) throw new server.Problem("idempotency_conflict", { key: "" });
        }
        return joined;
      })
      .then((joined) => {
        joined.report(changes);
        return joined.results;
      });
  }

  async function show(
    { databases: { api } }: SimulatedNode,
    task: NewTask | undefined,
    joined: Joined,
  ): Promise<Pick<About, "taskId" | "status"> & Pick<Joins, "how">> {
    if (joined instanceof server.Problem) return { status: joined.status };
    if (joined?.kind === "created") return { taskId: joined.accepted.id, status: 201 };
    if (joined !== null) return { taskId: joined.taskId, status: 200, how: joined.kind };
    const taken = await server.findTakenKey(api, TEAM, task?.idempotency?.key ?? "", false);
    return taken === null
      ? { status: 404, how: "repeated" }
      : { taskId: taken.taskId, status: 200, how: "repeated" };
  }

  function note(asked: Asked | undefined, { taskId: id, status, how }: Awaited<ReturnType<typeof show>>) {
    const joins = asked?.about.joins;
    if (asked === undefined || joins === undefined) return;
    if (id !== undefined) {
      asked.about.taskId = id;
      known.add(id);
    }
    if (status !== undefined) asked.about.status = status;
    if (how !== undefined) asked.about.joins = { ...joins, how };
  }

  /** Within so long. */
  function burst(key: Key, count: number, lastsMs: number): void {
    const asked = Array.from({ length: count }, () => ask(key)).flat();
    const how = random.weighted({ each: 4, several: 2, together: 1 });
    const isTogether = how === "together" && asked.every(({ task }) => task.idempotency === null);
    if (how !== "each") send(asked, isTogether);
    else for (const each of asked) scheduler.after(random.next() * lastsMs, () => send([each], false));
  }

  function remove(): void {
    if (known.size === 0) return;
    const id = random.pick([...known]);
    requests.send(random, "delete-task", { taskId: id }, async ({ databases: { api } }) => {
      const isGone = await api.transaction((sql) => server.removePendingTask(sql, REQUESTER, id));
      if (isGone) return 200;
      return (await server.taskStatus(api, REQUESTER, id)) === null ? 404 : 409;
    });
  }

  function forget(): void {
    requests.send(random, "read", {}, async ({ databases: { chores } }) => {
      await server.removeOldDedupeKeys(chores, 100);
      return 200;
    });
  }

  return {
    async prepare() {},
    storm(lastsMs) {
      const at = () => random.next() * lastsMs;
      for (const key of keys)
        for (let each = random.between(1, 4); each > 0; each -= 1)
          scheduler.after(at(), () => burst(key, random.between(1, 5), random.pick([5, 500, 4_000])));
      for (let each = random.between(0, 3); each > 0; each -= 1) scheduler.after(at(), remove);
      for (let each = random.between(0, 2); each > 0; each -= 1) scheduler.after(at(), forget);
    },
    /** Every key is free again when its window is over. */
    calm(recoveredMs) {
      const fromMs = recoveredMs - scheduler.nowMs + 1_000;
      scheduler.after(fromMs, () => {
        for (const key of keys) burst(key, 5, LONGEST_MS);
      });
      scheduler.after(fromMs + 2 * LONGEST_MS, () => {
        const asked = keys.flatMap((key) => ask(key));
        send(asked, false, () => {
          isDone = true;
        });
      });
    },
    get isDone() {
      return isDone;
    },
  };
}
