import type { Scene } from "../scene.ts";

const AT_ONCE = 6;

/** As many as a request may have besides its own, each to be unwrapped and checked. */
const forwarded = (count: number, length: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, number) => [`upstash-forward-x${number}`, "v".repeat(length)]),
  );
/** The longest and deepest that the language of retry delays takes, and ones that it refuses at their end. */
const EXPRESSIONS = [
  `${"(".repeat(31)}retried${")".repeat(31)}`,
  `max(${"pow(retried, 2) + ".repeat(26)}1, 1)`,
  `${"1+".repeat(249)}x`,
  `${"(".repeat(490)}1`,
  "-".repeat(500),
];

export const scene: Scene = {
  what: "one team publishes messages with hundreds of headers, the worst retry delays, and batches of 1,000",
  seconds: 15,
  excused: {
    memory: "several batches of a megabyte are in memory at a time, each as bytes, text and objects",
  },
  async prepare(stage) {
    const { key } = await stage.team({ plan: "free", owner: "mallory@example.com" });
    const to = `${stage.target.url}/ok`;
    const headerSets = [
      forwarded(64, 100),
      forwarded(400, 4),
      ...EXPRESSIONS.map((expression) => ({ "upstash-retry-delay": expression })),
      { "upstash-redact-fields": Array.from({ length: 900 }, (_, number) => `header[x${number}]`).join() },
      { "upstash-label": Array.from({ length: 1_500 }, (_, number) => `l${number}`).join() },
    ].map((headers) => ({ ...headers, "upstash-delay": "1d" }));
    const item = (more: object) => ({
      destination: to,
      headers: { "Upstash-Delay": "1d", ...more },
      body: "x",
    });
    const batches = [
      Array.from({ length: 1_000 }, () => item({})),
      Array.from({ length: 1_000 }, () => item({ "Upstash-Retry-Delay": EXPRESSIONS[1] })),
      Array.from({ length: 1_000 }, (_, number) => item({ "Upstash-Unknown": String(number) })),
    ].map((items) => JSON.stringify(items));
    return async (signal) => {
      const send = async (_: unknown, first: number) => {
        for (let sent = first; !signal.aborted; sent += 1) {
          if (sent % 8 === 0)
            await stage.request("POST", "/v2/batch", { key, body: batches[sent % batches.length] });
          const headers = headerSets[sent % headerSets.length] ?? {};
          await stage.request("POST", `/v2/publish/${to}`, { key, body: "x", headers });
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, send));
    };
  },
};
