import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Scene } from "../scene.ts";

const LENGTH = 15 * 1_048_576;

/** The worst there are to build, each near the most that is read of an answer. */
const ANSWERS: Readonly<Record<string, string>> = {
  keys: `{${Array.from({ length: 1_100_000 }, (_, number) => `"k${number}":0`).join()}}`,
  elements: `[${"0,".repeat(LENGTH / 2)}0]`,
  deep: "[".repeat(LENGTH / 2) + "]".repeat(LENGTH / 2),
  string: JSON.stringify("x".repeat(LENGTH)),
  escapes: `{"s":"${"\\u0041".repeat(LENGTH / 6)}"}`,
};

export const scene: Scene = {
  what: "20 polls of a team get answers of 15 MiB: of keys, of elements, nested, one string; plain and as bombs of gzip and brotli",
  seconds: 25,
  excused: {
    memory:
      "two answers of 15 MiB are in memory at a time, each as bytes, as text and as a copy for a thread",
  },
  async prepare(stage) {
    const { key } = await stage.team({ plan: "pro" });
    const paths: string[] = [];
    for (const [name, text] of Object.entries(ANSWERS)) {
      const codings: Readonly<Record<string, Buffer>> = {
        identity: Buffer.from(text),
        gzip: gzipSync(text),
        br: brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
      };
      for (const [coding, bytes] of Object.entries(codings)) {
        const path = `/${name}-${coding}`;
        paths.push(path);
        stage.target.answer(path, (_, response) => {
          response.setHeader("content-encoding", coding);
          response.end(bytes);
        });
      }
    }
    return async (signal) => {
      for (let sent = 0; sent < 20 && !signal.aborted; sent += 1) {
        const body = {
          targetUrl: `${stage.target.url}/ok`,
          method: "POST",
          pollConfig: {
            urlTemplate: `${stage.target.url}${paths[sent % paths.length]}`,
            interval: 1,
            statusPath: "status.of.the.job",
            doneValues: ["done"],
            failValues: ["failed"],
          },
        };
        await stage.request("POST", "/v1/tasks", { key, body });
      }
    };
  },
};
