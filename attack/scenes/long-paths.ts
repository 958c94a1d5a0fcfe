import type { Scene } from "../scene.ts";

const PARTS = 900;
const STATUS_KEYS = 120;

function nested(keys: number, inner: string): string {
  return `${'{"a":'.repeat(keys)}${inner}${"}".repeat(keys)}`;
}

const path = (keys: number) => Array<string>(keys).fill("a").join(".");
/** A number at the end, which is taken from the text: the answer would be read again for each key of the path. */
const START = nested(PARTS, `{"pad":"${"x".repeat(1_000_000)}","id":12345678901234567890}`);
const STATUS = nested(STATUS_KEYS, `{"pad":"${"x".repeat(15_000_000)}","id":1}`);

export const scene: Scene = {
  what: "tasks have URL templates with variables of 900 parts, and polls status paths of 120 keys into answers of 15 MiB",
  seconds: 20,
  excused: {
    memory:
      "two answers of 15 MiB are in memory at a time, each as bytes, as text and as a copy for a thread",
  },
  async prepare(stage) {
    const { key } = await stage.team({ plan: "pro" });
    stage.target.answer("/start", (_, response) => response.end(START));
    stage.target.answer("/status", (_, response) => response.end(STATUS));
    const poll = { interval: 1, doneValues: ["done"], failValues: ["failed"] };
    const templates = {
      targetUrl: `${stage.target.url}/start`,
      method: "POST",
      pollConfig: {
        ...poll,
        urlTemplate: `${stage.target.url}/{startResult.body.${path(PARTS)}.id}`,
        statusPath: "status",
      },
    };
    const statuses = {
      targetUrl: `${stage.target.url}/ok`,
      method: "POST",
      pollConfig: {
        ...poll,
        urlTemplate: `${stage.target.url}/status`,
        statusPath: `${path(STATUS_KEYS)}.id`,
      },
    };
    return async (signal) => {
      for (let sent = 0; sent < 100 && !signal.aborted; sent += 1) {
        await stage.request("POST", "/v1/tasks", { key, body: sent % 5 === 0 ? statuses : templates });
      }
    };
  },
};
