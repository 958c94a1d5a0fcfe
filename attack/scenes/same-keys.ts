import type { Scene } from "../scene.ts";

const AT_ONCE = 4;
const OF_BATCH = 250;
/** A batch of them is nearly as large as a batch may be. */
const body = "x".repeat(40_000);

let key = "";

export const scene: Scene = {
  what: "one team sends batches of the same 250 deduplication keys in changing orders, four at once",
  excused: {
    memory:
      "a team may have 16 MiB of large bodies in memory, each as bytes, text, values and parts of statements; sixteen senders use no more than four",
  },
  async prepare(stage) {
    ({ key } = await stage.team({ plan: "enterprise", owner: "mallory@example.com" }));
    const task = (number: number, mode: string) => ({
      targetUrl: `${stage.target.url}/ok`,
      body,
      ...(mode === "debounce" ? {} : { delay: 3_600 }),
      dedupe: { key: `${mode}-${number}`, mode, window: 3_600 },
    });
    return async (signal) => {
      const send = async (_: unknown, first: number) => {
        for (let turn = first; !signal.aborted; turn += 1) {
          const mode = ["first", "replace", "debounce"][turn % 3] ?? "first";
          const tasks = Array.from({ length: OF_BATCH }, (_, at) =>
            task((at * 7 + turn * 131) % OF_BATCH, mode),
          );
          await stage.request("POST", "/v1/tasks/batch", { key, body: { tasks } });
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, send));
    };
  },
  async check(stage) {
    const answer = await stage.must("GET", "/v1/queues/default", { key });
    const { stats } = answer.body as { stats: { pending: number } };
    return stats.pending <= 3 * OF_BATCH
      ? []
      : [`${stats.pending} tasks were made of ${3 * OF_BATCH} deduplication keys`];
  },
};
