import type { Scene } from "../scene.ts";

/** Each may make so many requests a minute, of which a few are needed to set up. */
const TEAMS = 10;
const TASKS_PER_TEAM = 40;
/** As many as it takes for halves of what is left to come to all of it. */
const OTHERS = 8;
/** What the plan free allows one person, over all of their teams. */
const OF_ONE_PERSON = 20;

let underWay = 0;
let most = 0;

export const scene: Scene = {
  what: "the ten free teams of one person, and eight other persons, have calls hang on a node that makes 64 at a time",
  seconds: 20,
  env: { BELLHOP_MAX_IN_FLIGHT: "64" },
  async prepare(stage) {
    stage.target.answer("/hang-mallory", (_, response) => {
      underWay += 1;
      most = Math.max(most, underWay);
      response.once("close", () => {
        underWay -= 1;
      });
    });
    const open = async (owner: string, path: string) => {
      const { key } = await stage.team({ owner });
      await stage.must("POST", "/v1/queues", { key, body: { name: "wide", concurrency: 100 } });
      const body = { queue: "wide", webhook_url: `${stage.target.url}${path}`, payload: {}, timeout: 30 };
      return () => stage.request("POST", "/v1/tasks", { key, body });
    };
    const submits: (() => Promise<unknown>)[] = [];
    for (let index = 0; index < TEAMS; index += 1)
      submits.push(await open("mallory@example.com", "/hang-mallory"));
    for (let index = 0; index < OTHERS; index += 1)
      submits.push(await open(`trudy-${index}@example.com`, "/hang"));
    return async (signal) => {
      // One after the other: of a share that shrinks with what others hold, the first takes half.
      for (const submit of submits) {
        if (signal.aborted) return;
        await Promise.all(Array.from({ length: TASKS_PER_TEAM }, submit));
      }
    };
  },
  check: async () =>
    most === OF_ONE_PERSON ? [] : [`one person had ${most} calls in flight, and may have ${OF_ONE_PERSON}`],
};
