import type { Scene } from "../scene.ts";

const TASKS = 520;
const AT_ONCE = 16;

export const scene: Scene = {
  what: "one team has more than 500 polls hang",
  victim: "poll",
  seconds: 25,
  async prepare(stage) {
    const { key } = await stage.team({ plan: "pro" });
    await stage.must("POST", "/v1/queues", { key, body: { name: "wide", concurrency: 100 } });
    const body = {
      queue: "wide",
      targetUrl: `${stage.target.url}/ok`,
      method: "POST",
      body: "{}",
      pollConfig: {
        urlTemplate: `${stage.target.url}/hang`,
        interval: 5,
        statusPath: "status",
        doneValues: ["done"],
        failValues: ["failed"],
      },
    };
    return async (signal) => {
      let left = TASKS;
      const submitter = async () => {
        while (left > 0 && !signal.aborted) {
          left -= 1;
          await stage.request("POST", "/v1/tasks", { key, body });
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, submitter));
    };
  },
};
