import { type ClientRequest, request } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import type { Scene } from "../scene.ts";

/** As many as a node has, of two teams that no plan bounds. */
const STREAMS = 2_000;
const AT_ONCE = 25;
const PAUSE_MS = 20;
/** One source may have 1,000 connections: an attacker has several. */
const SOURCES = ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"];

let opened = 0;
let thirdStatus = 0;

export const scene: Scene = {
  what: "two teams without a figure open 2,000 event streams",
  // Its connections come from several addresses.
  ownNetwork: true,
  seconds: 20,
  excused: { memory: "1,800 open streams are held, of teams whose number of them is not bounded" },
  async prepare(stage) {
    const greedy = [
      await stage.team({ plan: "enterprise", owner: "mallory@example.com" }),
      await stage.team({ plan: "enterprise", owner: "trudy@example.com" }),
    ];
    const third = await stage.team({ owner: "alice@example.com" });
    const streams: ClientRequest[] = [];
    const open = (key: string, localAddress: string) =>
      new Promise<number>((resolve) => {
        const headers = { authorization: `Bearer ${key}` };
        const stream = request(
          `${stage.url}/v1/events`,
          { agent: false, localAddress, headers },
          (answer) => {
            answer.on("error", () => {}).resume();
            resolve(answer.statusCode ?? 0);
          },
        );
        stream.on("error", () => resolve(0)).end();
        streams.push(stream);
      });
    return async (signal) => {
      for (let first = 0; first < STREAMS && !signal.aborted; first += AT_ONCE) {
        const some = Array.from({ length: AT_ONCE }, (_, index) => {
          const number = first + index;
          return open(greedy[number % 2]?.key ?? "", SOURCES[number % SOURCES.length] ?? "");
        });
        opened += (await Promise.all(some)).filter((status) => status === 200).length;
      }
      thirdStatus = await open(third.key, "127.0.0.6");
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener("abort", () => resolve(), { once: true });
      });
      // As they were opened: what it costs when all break in one moment is in SECURITY.md.
      for (let first = 0; first < streams.length; first += AT_ONCE) {
        for (const stream of streams.slice(first, first + AT_ONCE)) stream.destroy();
        await wait(PAUSE_MS);
      }
    };
  },
  check: async () => [
    ...(opened > 1_800 ? [`two teams had ${opened} streams, and a tenth is not theirs`] : []),
    ...(opened < 1_500 ? [`only ${opened} streams could be opened: the scene shows nothing`] : []),
    ...(thirdStatus === 200 ? [] : [`a third team was answered ${thirdStatus} instead of a stream`]),
  ],
};
