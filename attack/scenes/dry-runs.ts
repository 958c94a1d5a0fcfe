import type { Scene } from "../scene.ts";

const TASKS = 60_000;
const OF_BATCH = 1_000;
const AT_ONCE = 8;

let key = "";

/** A filter that no index answers: every task is looked at. */
const body = { action: "cancel", filter: { host: "nowhere.example" }, dry_run: true };

export const scene: Scene = {
  what: "one team asks eight times at once how many of its 60,000 open tasks fit a filter",
  async prepare(stage) {
    ({ key } = await stage.team({ plan: "enterprise", owner: "mallory@example.com" }));
    const task = { targetUrl: `${stage.target.url}/ok`, delay: 86_400 };
    const batch = { tasks: Array.from({ length: OF_BATCH }, () => task) };
    for (let made = 0; made < TASKS; made += OF_BATCH)
      await stage.must("POST", "/v1/tasks/batch", { key, body: batch });
    return async (signal) => {
      const ask = async () => {
        while (!signal.aborted) await stage.request("POST", "/v1/tasks/bulk", { key, body });
      };
      await Promise.all(Array.from({ length: AT_ONCE }, ask));
    };
  },
  async check(stage) {
    const all = { ...body, filter: { status: "pending" } };
    const answer = await stage.must("POST", "/v1/tasks/bulk", { key, body: all });
    const { matched } = answer.body as { matched: number };
    return matched === TASKS ? [] : [`${matched} tasks were counted of ${TASKS}`];
  },
};
