import type { Scene } from "../scene.ts";

const TASKS = 500;
const OF_BATCH = 50;
const AT_ONCE = 8;

export const scene: Scene = {
  what: "one team lists its largest tasks, schedules and figures in the largest pages, eight at once",
  // Two pages of a megabyte and two of 100 schedules are in memory at a time, as rows, as text and as bytes.
  goals: { memory: 1.5 },
  async prepare(stage) {
    const { key } = await stage.team({ plan: "enterprise", owner: "mallory@example.com" });
    const headers = Object.fromEntries(
      Array.from({ length: 60 }, (_, number) => [`x-${number}`, "y".repeat(100)]),
    );
    const metadata = Object.fromEntries(
      Array.from({ length: 20 }, (_, number) => [`m${number}`, "z".repeat(80)]),
    );
    for (let made = 0; made < TASKS; made += OF_BATCH) {
      const tasks = Array.from({ length: OF_BATCH }, (_, number) => ({
        targetUrl: `${stage.target.url}/ok`,
        delay: 86_400,
        headers,
        metadata,
        tags: Array.from({ length: 10 }, (_, tag) => `t${made + number}-${tag}`),
        body: "x".repeat(10_000),
      }));
      await stage.must("POST", "/v1/tasks/batch", { key, body: { tasks } });
    }
    const task = { targetUrl: `${stage.target.url}/ok`, headers };
    // A time that comes once in four years takes longest to find.
    for (let made = 0; made < 100; made += 1)
      await stage.must("POST", "/v1/schedules", {
        key,
        body: { name: `s${made}`, cron: "* * 29 2 *", task },
      });
    const paths = [
      "/v1/tasks?limit=100",
      "/v1/stats/failures?range=30d",
      "/v1/schedules?limit=100",
      "/v1/stats/queues?range=30d",
    ];
    // What is refused would test nothing.
    for (const path of paths) await stage.must("GET", path, { key });
    return async (signal) => {
      const ask = async (_: unknown, number: number) => {
        while (!signal.aborted) await stage.request("GET", paths[number % paths.length] ?? "", { key });
      };
      await Promise.all(Array.from({ length: AT_ONCE }, ask));
    };
  },
};
