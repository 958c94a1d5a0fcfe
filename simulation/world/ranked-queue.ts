import { flowKey, freeKey } from "../../chaos/checker/flows.ts";
import { QUEUE_DEFAULTS } from "../../packages/server/src/domain/queue.ts";
import type { NewTask } from "../../packages/server/src/domain/task.ts";
import type { Feature, FeatureParts } from "./feature.ts";
import { plainTask, TEAM, taskId } from "./new-tasks.ts";
import { REQUESTER } from "./requests.ts";

const NAME = "ranked";
const FIRST_ID = 70_000;
/** In this time, every node learns which flows have tasks that another node stored. */
const KNOWN_MS = 7_000;

/** A queue with one slot, filled while it is paused with tasks with and without flows, whose calls come in the order of priority. */
export function createRankedQueue({ server, scheduler, requests, random }: FeatureParts): Feature {
  let rankedQueueId: number | null = null;
  let tasks = 0;
  let isDone = false;

  function setPaused(paused: boolean): void {
    requests.insist(random, paused ? "pause" : "resume", { queue: NAME }, async ({ databases: { api } }) => {
      await server.createQueueService({ database: api }).setPaused(REQUESTER, NAME, paused);
      return 200;
    });
  }

  function create(): void {
    const id = taskId(FIRST_ID + tasks);
    tasks += 1;
    const task = { ...plainTask(id, NAME), priority: random.between(1, 10), flow: drawFlow() };
    requests.insist(random, "create", { taskId: id, queue: NAME }, async ({ engine }) =>
      (await engine.submit(task)) === null ? 404 : 201,
    );
  }

  /** A place of a flow whose calls this queue alone makes is free whenever its slot is. */
  function drawFlow(): NewTask["flow"] {
    const limits = { rate: null, period: null, ordered: null };
    const kind = random.weighted({ none: 3, limited: 1, free: 2 });
    if (kind === "none") return null;
    if (kind === "limited") return { key: flowKey(1, null, null), concurrency: 1, ...limits };
    return { key: freeKey(random.between(1, 3)), concurrency: null, ...limits };
  }

  return {
    async prepare(sql) {
      const settings = { ...QUEUE_DEFAULTS, retryDelaySeconds: 1, timeoutSeconds: 3, concurrency: 1 };
      const queue = await server.insertQueue(sql, TEAM, NAME, settings);
      rankedQueueId = queue?.id ?? null;
    },
    storm() {},
    calm(recoveredMs) {
      const waitMs = Math.max(0, recoveredMs - scheduler.nowMs);
      const at = (ms: number, work: () => void) => scheduler.after(waitMs + ms, work);
      at(500, () => setPaused(true));
      for (let each = random.between(6, 12); each > 0; each -= 1) at(1_500 + random.next() * 1_000, create);
      at(3_500 + KNOWN_MS, () => {
        setPaused(false);
        isDone = true;
      });
    },
    get isDone() {
      return isDone;
    },
    get rankedQueueId() {
      return rankedQueueId;
    },
  };
}
