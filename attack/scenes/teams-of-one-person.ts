import type { Scene } from "../scene.ts";

/** Each may make so many requests a minute, of which a few are needed to set up. */
const TEAMS = 10;
const TASKS_PER_TEAM = 40;

export const scene: Scene = {
  what: "the ten free teams of one person have calls hang on a node that makes 64 at a time",
  seconds: 20,
  env: { BELLHOP_MAX_IN_FLIGHT: "64" },
  async prepare(stage) {
    const keys: string[] = [];
    for (let index = 0; index < TEAMS; index += 1) {
      const { key } = await stage.team({ owner: "mallory@example.com" });
      await stage.must("POST", "/v1/queues", { key, body: { name: "wide", concurrency: 100 } });
      keys.push(key);
    }
    const body = { queue: "wide", webhook_url: `${stage.target.url}/hang`, payload: {}, timeout: 30 };
    return async (signal) => {
      // One after the other: of a share that shrinks with what others hold, the first takes half.
      for (const key of keys) {
        if (signal.aborted) return;
        const submit = () => stage.request("POST", "/v1/tasks", { key, body });
        await Promise.all(Array.from({ length: TASKS_PER_TEAM }, submit));
      }
    };
  },
};
