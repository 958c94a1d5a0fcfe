import type { QueueSettings } from "../../packages/server/src/domain/queue.ts";
import type { Feature, FeatureParts } from "./feature.ts";
import { plainTask, QUEUES, TEAM, taskId } from "./new-tasks.ts";
import { REQUESTER } from "./requests.ts";

const RATES: readonly Pick<QueueSettings, "rate" | "ratePeriod">[] = [
  { rate: 1, ratePeriod: 1 },
  { rate: 2, ratePeriod: 2 },
  { rate: 1, ratePeriod: 3 },
  { rate: 3, ratePeriod: 4 },
];
const FIRST_ID = 60_000;

/** One of the queues has a rate, from the start or later. */
export function createRatedQueue({ server, scheduler, requests, random }: FeatureParts): Feature {
  const queue = random.pick(QUEUES);
  const isFirst = random.chance(0.6);
  let tasks = 0;
  let isDone = false;

  function burst(count: number): void {
    for (let each = 0; each < count; each += 1) {
      const task = plainTask(taskId(FIRST_ID + tasks), queue);
      tasks += 1;
      requests.send(random, "create", { taskId: task.id, queue }, async ({ engine }) =>
        (await engine.submit(task)) === null ? 404 : 201,
      );
    }
  }

  function change(settings: Partial<QueueSettings>): void {
    requests.insist(random, "limit", { queue }, async ({ databases: { api } }) => {
      await server.createQueueService({ database: api }).update(REQUESTER, queue, settings);
      return 200;
    });
  }

  return {
    async prepare(sql) {
      const found = isFirst ? await server.findQueue(sql, REQUESTER, queue) : null;
      if (found !== null) await server.setQueueRate(sql, { teamId: TEAM, id: found.id }, random.pick(RATES));
    },
    storm(lastsMs) {
      const at = () => random.next() * lastsMs;
      for (let each = random.between(1, 3); each > 0; each -= 1)
        scheduler.after(at(), () => burst(random.between(2, 6)));
      for (let each = random.between(isFirst ? 0 : 1, 2); each > 0; each -= 1)
        scheduler.after(at(), () => change(random.chance(0.2) ? { rate: null } : random.pick(RATES)));
    },
    /** With work for some windows: nothing else decides when it is done. */
    calm(recoveredMs) {
      const settings = random.pick(RATES);
      change(settings);
      scheduler.after(recoveredMs - scheduler.nowMs + 1_000, () => {
        burst(2 * (settings.rate ?? 0) + 1);
        isDone = true;
      });
    },
    get isDone() {
      return isDone;
    },
  };
}
