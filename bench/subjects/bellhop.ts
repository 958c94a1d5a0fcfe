import { request } from "undici";
import { repositoryRoot, startProcess } from "../child-process.ts";
import { payloadFor, type Subject } from "./subject.ts";

const apiKey = "bh_live_0123456789abcdefghijABCDEFGHIJ0123456789";
const queue = "bench";

export const bellhop: Subject = {
  name: "bellhop",
  async start({ dataDir, logFile, concurrency }) {
    const started = await startProcess({
      name: "bellhop",
      // Another build can stand in, to compare two of them or to measure one while the checkout is being changed.
      args: [process.env.BENCH_BELLHOP_MAIN ?? `${repositoryRoot}/packages/server/dist/main.js`],
      env: {
        PORT: "0",
        HOST: "127.0.0.1",
        // Empty counts as unset: the embedded database, whatever the shell of the operator says.
        DATABASE_URL: "",
        BELLHOP_DATA_DIR: dataDir,
        BELLHOP_API_KEY: apiKey,
        // The skeleton writes no log; BENCH_LOG_LEVEL=info shows what the log of every request and attempt costs.
        LOG_LEVEL: process.env.BENCH_LOG_LEVEL ?? "warn",
      },
      logFile,
    });
    const headers = { authorization: `Bearer ${apiKey}` };
    const created = await request(`${started.readyAt}/v1/queues`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ name: queue, concurrency }),
    });
    const answer = await created.body.text();
    if (created.statusCode !== 201) {
      await started.stop();
      throw new Error(`bellhop refused the queue: ${created.statusCode} ${answer}`);
    }
    return {
      pid: started.pid,
      submitUrl: `${started.readyAt}/v1/tasks`,
      headers,
      bodyFor: (seq, targetUrl) =>
        JSON.stringify({ queue, webhook_url: targetUrl, payload: payloadFor(seq) }),
      stop: started.stop,
    };
  },
};
