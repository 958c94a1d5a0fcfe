import { randomUUID } from "node:crypto";
import PgBoss from "pg-boss";
import { createCaller } from "../../.build/bench/skeleton/caller.js";
import { openFrontDoor } from "../../.build/bench/skeleton/front-door.js";
import { acceptBy } from "./accept.mjs";
import { startPostgres } from "./postgres.mjs";

const workers = Number(process.env.PEER_WORKERS || 4);
const batchSize = Number(process.env.PEER_CONCURRENCY || 200);

const postgres = await startPostgres(process.env.PEER_DATA_DIR);
const boss = new PgBoss({ ...postgres.connection, max: 10 });
boss.on("error", (error) => console.error(error));
await boss.start();
await boss.createQueue("bench");
const caller = createCaller(workers * batchSize);

function call({ data }) {
  return new Promise((resolve, reject) => {
    caller.call(data.url, data.payload, (code) =>
      code >= 200 && code < 300 ? resolve(code) : reject(new Error(`answered ${code}`)),
    );
  });
}

// The least interval that it takes. A worker sleeps for it even if its batch was full, unless it is notified.
const options = { batchSize, pollingIntervalSeconds: 0.5 };
const workerIds = [];
for (let worker = 0; worker < workers; worker++) {
  workerIds.push(await boss.work("bench", options, (jobs) => Promise.all(jobs.map(call))));
}
let next = 0;
function wakeWorker() {
  next = (next + 1) % workerIds.length;
  boss.notifyWorker(workerIds[next]);
}

openFrontDoor({
  name: "pg-boss",
  accept: acceptBy({
    async one(submission) {
      const id = await boss.send("bench", submission, { retryLimit: 3 });
      wakeWorker();
      return id;
    },
    async group(submissions) {
      const jobs = submissions.map((data) => ({ id: randomUUID(), name: "bench", data, retryLimit: 3 }));
      await boss.insert(jobs);
      wakeWorker();
      return jobs.map(({ id }) => id);
    },
  }),
  async stop() {
    await boss.stop({ graceful: false, wait: false });
    await caller.stop();
    await postgres.stop();
  },
});
