import type { Scene } from "../scene.ts";

const fields = (count: number, name: string) =>
  Array.from({ length: count }, (_, number) => `"${name}${number}":0`).join();
const task = (more: string) => `{"queue":"default","webhook_url":"http://127.0.0.1:9/",${more}}`;
const batch = (items: readonly string[]) => `{"tasks":[${items.join()}]}`;

/** Made once: the attack must cost the attacker little. */
const BATCHES = [
  // 10 MiB of what tasks carry, and of what they do not.
  batch(Array<string>(9).fill(task(`"payload":{${fields(90_000, "k")}}`))),
  batch(Array<string>(9).fill(task(`"headers":{${fields(90_000, "h")}}`))),
  batch(Array<string>(1_000).fill(`{${fields(98, "priorit")}}`)),
  batch(Array<string>(1_000).fill(`{${fields(45, "priorit")}}`)),
  batch(Array<string>(900).fill(task(`"headers":{${fields(50, "h")}}`))),
];
const WIDE = `{${fields(100_000, "f")}}`;

export const scene: Scene = {
  what: "one free team sends batches of 10 MiB of fields, batches of unknown fields, and bodies of 100,000 fields",
  seconds: 15,
  excused: {
    memory:
      "three bodies of 10 MiB are in memory at a time, each as bytes, as text and as a copy for a thread",
  },
  async prepare(stage) {
    const { key } = await stage.team({ plan: "free" });
    return async (signal) => {
      const sender = async (first: number) => {
        for (let sent = first; !signal.aborted; sent += 1) {
          await stage.request("POST", "/v1/tasks/batch", { key, body: BATCHES[sent % BATCHES.length] });
          await stage.request("POST", "/v1/tasks", { key, body: WIDE });
        }
      };
      await Promise.all([0, 1, 2].map(sender));
    };
  },
};
