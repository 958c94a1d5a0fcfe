import type { Scene } from "../scene.ts";

const BULKS = 45;
const MALLORYS_TASKS = 1_000;
const BOBS_TASKS = 500;
/** Tasks a second: done in half the time that the attack is watched. */
const BOBS_RATE = 100;

let worked = 0;

export const scene: Scene = {
  what: "one free team has 45 bulk actions running, each over 1,000 tasks at the highest rate",
  async prepare(stage) {
    const mallory = await stage.team({ owner: "mallory@example.com" });
    const bob = await stage.team({ plan: "pro", owner: "bob@example.com" });
    const task = { targetUrl: `${stage.target.url}/ok`, delay: 86_400 };
    const fill = (key: string, count: number) =>
      stage.must("POST", "/v1/tasks/batch", {
        key,
        body: { tasks: Array.from({ length: count }, () => task) },
      });
    await fill(mallory.key, MALLORYS_TASKS);
    await fill(bob.key, BOBS_TASKS);
    // Pending tasks cannot be retried: each has its turn and is skipped, and no action changes what the next one finds.
    const start = (key: string, rate: number) =>
      stage.must("POST", "/v1/tasks/bulk", {
        key,
        body: { action: "retry", filter: { status: "pending" }, rate },
      });
    return async (signal) => {
      for (let index = 0; index < BULKS; index += 1) await start(mallory.key, 1_000);
      const { bulk } = (await start(bob.key, BOBS_RATE)).body as { bulk: { id: string } };
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener("abort", () => resolve(), { once: true });
      });
      const answer = await stage.must("GET", `/v1/tasks/bulk/${bulk.id}`, { key: bob.key });
      const { done, skipped } = (answer.body as { bulk: { done: number; skipped: number } }).bulk;
      worked = done + skipped;
    };
  },
  check: async () =>
    worked === BOBS_TASKS ? [] : [`the other team's bulk action came to ${worked} of ${BOBS_TASKS} tasks`],
};
