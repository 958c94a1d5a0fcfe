import { flowKey } from "../../chaos/checker/flows.ts";
import { orderedKey } from "../../chaos/checker/lines.ts";
import type { BreakerSettings } from "../../packages/server/src/domain/breaker.ts";
import type { NewTask } from "../../packages/server/src/domain/task.ts";
import type { Feature, FeatureParts } from "./feature.ts";
import { plainTask, QUEUES, TEAM, taskId } from "./new-tasks.ts";
import { createNodeTasks } from "./node.ts";
import { REQUESTER } from "./requests.ts";

const FIRST_ID = 100_000;
const SHAKY = "shaky.example";
const STEADY = "steady.example";

/** One of the queues has a circuit breaker, from the start or later. It calls a host that fails for seconds, again and again. */
export function createBrokenHost(parts: FeatureParts): Feature {
  const { server, scheduler, requests, random, targets } = parts;
  const queue = random.pick(QUEUES);
  const isFirst = random.chance(0.7);
  const hasFlows = random.chance(0.4);
  const shaky: string[] = [];
  let tasks = 0;
  let isDone = false;

  function drawSettings(): BreakerSettings {
    return {
      failures: random.between(1, 4),
      ratio: random.pick([0.5, 0.9]),
      within: random.pick([6, 12, 30]),
      cooldown: random.between(1, 2),
    };
  }

  function create(host: string): void {
    const id = taskId(FIRST_ID + tasks);
    tasks += 1;
    if (host === SHAKY) shaky.push(id);
    const plain = plainTask(id, queue);
    const call = { ...plain.call, url: `https://${host}/call/${id}` };
    const flow = hasFlows && random.chance(0.5) ? drawFlow() : null;
    const task = { ...plain, call, flow, priority: random.between(4, 6) };
    requests.send(random, "create", { taskId: id, queue }, async ({ engine }) =>
      (await engine.submit(task)) === null ? 404 : 201,
    );
  }

  function drawFlow(): NewTask["flow"] {
    if (random.chance(0.3))
      return { key: orderedKey(tasks), concurrency: null, rate: null, period: null, ordered: true };
    return { key: flowKey(2, null, null), concurrency: 2, rate: null, period: null, ordered: null };
  }

  function burst(count: number): void {
    for (let each = 0; each < count; each += 1) create(SHAKY);
    create(STEADY);
  }

  /** The host fails for so long, while there is work for it and for another host. */
  function spell(lastsMs: number): void {
    targets.setDown(SHAKY, true);
    burst(random.between(3, 6));
    for (let ms = 0; ms < lastsMs; ms += 1_000 * random.next() + 300)
      scheduler.after(ms, () => create(random.pick([SHAKY, STEADY])));
    // The task that has the pass, perhaps.
    for (let each = random.between(1, 4); each > 0; each -= 1)
      scheduler.after(random.next() * lastsMs, () => cancel(random.pick(shaky.slice(-6))));
    scheduler.after(lastsMs, () => targets.setDown(SHAKY, false));
  }

  function cancel(id: string): void {
    requests.send(random, "cancel", { taskId: id }, async (node) => {
      await createNodeTasks(server, node).cancel(REQUESTER, id);
      return 200;
    });
  }

  function change(breaker: BreakerSettings | null): void {
    requests.insist(random, "limit", { queue }, async ({ databases: { api } }) => {
      await server.createQueueService({ database: api }).update(REQUESTER, queue, { breaker });
      return 200;
    });
  }

  function close(): void {
    requests.send(random, "limit", { queue }, async ({ databases: { api } }) => {
      await server
        .createBreakerService({ database: api, onChanged: () => {} })
        .close(REQUESTER, SHAKY, random.pick([null, queue]));
      return 200;
    });
  }

  return {
    async prepare(sql) {
      const found = isFirst ? await server.findQueue(sql, REQUESTER, queue) : null;
      if (found !== null) await server.setQueueBreaker(sql, { teamId: TEAM, id: found.id }, drawSettings());
    },
    storm(lastsMs) {
      const at = () => random.next() * lastsMs;
      let fromMs = random.next() * 4_000;
      for (let each = random.between(1, 2); each > 0; each -= 1) {
        const spellMs = 1_500 + random.next() * 5_000;
        scheduler.after(fromMs, () => spell(spellMs));
        fromMs += spellMs + 2_000 + random.next() * 4_000;
      }
      for (let each = random.between(isFirst ? 0 : 1, 2); each > 0; each -= 1)
        scheduler.after(at(), () => change(random.chance(0.2) ? null : drawSettings()));
      if (random.chance(0.3)) scheduler.after(at(), close);
    },
    /** Once more, without any other fault. */
    calm(recoveredMs) {
      targets.setDown(SHAKY, false);
      change(drawSettings());
      scheduler.after(recoveredMs - scheduler.nowMs + 1_000, () => {
        const spellMs = 2_000 + random.next() * 3_000;
        spell(spellMs);
        scheduler.after(spellMs + 1_000, () => {
          burst(2);
          isDone = true;
        });
      });
    },
    get isDone() {
      return isDone;
    },
  };
}
