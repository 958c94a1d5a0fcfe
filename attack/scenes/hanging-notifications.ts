import type { Scene } from "../scene.ts";

const TASKS = 400;
const AT_ONCE = 16;

export const scene: Scene = {
  what: "the receiver of one team's notifications hangs, hundreds of times",
  victim: "notification",
  seconds: 15,
  async prepare(stage) {
    const { key } = await stage.team({ plan: "pro" });
    const { url } = stage.target;
    const body = { targetUrl: `${url}/ok`, method: "POST", body: "{}", onCompleteUrl: `${url}/hang` };
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
