import { Queue, Worker } from "bullmq";
import { createCaller } from "../../.build/bench/skeleton/caller.js";
import { openFrontDoor } from "../../.build/bench/skeleton/front-door.js";
import { acceptBy } from "./accept.mjs";
import { startRedis } from "./redis.mjs";

const concurrency = Number(process.env.PEER_CONCURRENCY || 128);

const redis = await startRedis(process.env.PEER_DATA_DIR);
const connection = { path: redis.path, maxRetriesPerRequest: null };
const queue = new Queue("bench", {
  connection,
  defaultJobOptions: { removeOnComplete: true, attempts: 3 },
});
const caller = createCaller(concurrency);
const worker = new Worker(
  "bench",
  ({ data }) =>
    new Promise((resolve, reject) => {
      caller.call(data.url, data.payload, (code) =>
        code >= 200 && code < 300 ? resolve(code) : reject(new Error(`answered ${code}`)),
      );
    }),
  { connection, concurrency },
);
worker.on("error", (error) => console.error(error));
await worker.waitUntilReady();

openFrontDoor({
  name: "BullMQ",
  accept: acceptBy({
    one: async (submission) => (await queue.add("call", submission)).id,
    async group(submissions) {
      const jobs = await queue.addBulk(submissions.map((data) => ({ name: "call", data })));
      return jobs.map(({ id }) => id);
    },
  }),
  async stop() {
    await worker.close(true);
    await queue.close();
    await caller.stop();
    await redis.stop();
  },
});
