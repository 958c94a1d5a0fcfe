import type { Scene } from "../scene.ts";

const KEYS = 900;
const OF_BATCH = 1_000;
const AT_ONCE = 4;

export const scene: Scene = {
  what: "one free team has 10,000 tasks wait in 900 paused or full flows, and pauses, resumes and lists them without end",
  seconds: 15,
  async prepare(stage) {
    const { key } = await stage.team({ plan: "free", owner: "mallory@example.com" });
    const task = (number: number) => ({
      targetUrl: `${stage.target.url}/ok`,
      flow: { key: `k${number % KEYS}`, concurrency: 1, rate: 1, period: 3_600 },
    });
    for (let made = 0; made < 9_000; made += OF_BATCH)
      await stage.must("POST", "/v1/tasks/batch", {
        key,
        body: { tasks: Array.from({ length: OF_BATCH }, (_, number) => task(made + number)) },
      });
    return async (signal) => {
      const change = async (_: unknown, first: number) => {
        for (let turn = first; !signal.aborted; turn += AT_ONCE) {
          const path = `/v1/flows/k${turn % KEYS}`;
          await stage.request("POST", `${path}/pause`, { key });
          await stage.request("POST", `${path}/resume`, { key });
          await stage.request("POST", `${path}/reset`, { key });
          await stage.request("GET", "/v1/flows?limit=1000", { key });
          await stage.request("POST", "/v1/tasks", { key, body: task(turn) });
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, change));
    };
  },
};
