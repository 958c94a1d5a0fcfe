import type { Scene } from "../scene.ts";

const MESSAGES = 20_000;
const OF_BATCH = 1_000;
const AT_ONCE = 8;

let strangers = "";

/** Filters that no index answers: every message is looked at. */
const PATHS = [
  "/v2/logs?host=nowhere.example",
  "/v2/events?label=none&count=1",
  "/v2/dlq?responseStatus=418",
  "/v2/dlq?label=none",
  "/v2/logs?count=100",
  "/v2/logs?state=FAILED&urlGroup=none",
];

export const scene: Scene = {
  what: "one team searches its 20,000 messages for what none of them has, eight times at once",
  async prepare(stage) {
    const { key } = await stage.team({ plan: "enterprise", owner: "mallory@example.com" });
    ({ key: strangers } = await stage.team({ plan: "pro", owner: "bob@example.com" }));
    const item = {
      destination: `${stage.target.url}/ok`,
      headers: { "Upstash-Delay": "1d", "Upstash-Label": "hers" },
      body: "x",
    };
    const batch = JSON.stringify(Array.from({ length: OF_BATCH }, () => item));
    for (let made = 0; made < MESSAGES; made += OF_BATCH)
      await stage.must("POST", "/v2/batch", { key, body: batch });
    return async (signal) => {
      const ask = async (_: unknown, first: number) => {
        for (let asked = first; !signal.aborted; asked += 1)
          if (asked % 7 === 0) await stage.request("DELETE", "/v2/messages?host=nowhere.example", { key });
          else await stage.request("GET", PATHS[asked % PATHS.length] ?? "", { key });
      };
      await Promise.all(Array.from({ length: AT_ONCE }, ask));
    };
  },
  async check(stage) {
    const logs = await stage.must("GET", "/v2/logs?label=hers", { key: strangers });
    const cancelled = await stage.must("DELETE", "/v2/messages?label=hers", { key: strangers });
    return [
      ...((logs.body as { logs: unknown[] }).logs.length === 0
        ? []
        : ["another team sees messages that are not its own"]),
      ...((cancelled.body as { cancelled: number }).cancelled === 0
        ? []
        : ["another team cancels messages that are not its own"]),
    ];
  },
};
