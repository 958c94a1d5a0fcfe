import { Logger, makeWorkerUtils, run, runMigrations } from "graphile-worker";
import pg from "pg";
import { createCaller } from "../../.build/bench/skeleton/caller.js";
import { openFrontDoor } from "../../.build/bench/skeleton/front-door.js";
import { acceptBy } from "./accept.mjs";
import { startPostgres } from "./postgres.mjs";

const concurrency = Number(process.env.PEER_CONCURRENCY || 64);

const postgres = await startPostgres(process.env.PEER_DATA_DIR);
const pgPool = new pg.Pool({ ...postgres.connection, max: 25 });
pgPool.on("error", (error) => console.error(error));
// It logs two lines for every job otherwise.
const logger = new Logger(() => (level, message) => {
  if (level === "error") console.error(message);
});
await runMigrations({ pgPool, logger });
const utils = await makeWorkerUtils({ pgPool, logger });
const caller = createCaller(concurrency);
const runner = await run({
  pgPool,
  logger,
  noHandleSignals: true,
  preset: {
    worker: {
      concurrentJobs: concurrency,
      pollInterval: 100,
      localQueue: { size: Number(process.env.PEER_LOCAL_QUEUE || 500) },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    },
  },
  taskList: {
    call: ({ url, payload }) =>
      new Promise((resolve, reject) => {
        caller.call(url, payload, (code) =>
          code >= 200 && code < 300 ? resolve() : reject(new Error(`answered ${code}`)),
        );
      }),
  },
});

openFrontDoor({
  name: "graphile-worker",
  accept: acceptBy({
    one: async (submission) => (await utils.addJob("call", submission, { maxAttempts: 3 })).id,
    async group(submissions) {
      const jobs = await utils.addJobs(
        submissions.map((payload) => ({ identifier: "call", payload, maxAttempts: 3 })),
      );
      return jobs.map(({ id }) => id);
    },
  }),
  async stop() {
    await runner.stop().catch(() => {});
    await utils.release();
    await caller.stop();
    await pgPool.end();
    await postgres.stop();
  },
});
