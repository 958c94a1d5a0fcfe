/** Quirrel has a front door of its own and makes the calls itself: this starts what its container starts. */
import { createRequire } from "node:module";
import { startRedis } from "./redis.mjs";

const require = createRequire(import.meta.url);
const { runQuirrel } = require("./node_modules/quirrel/dist/cjs/src/api/index.js");
const { createRedisFactory } = require("./node_modules/quirrel/dist/cjs/src/api/shared/create-redis.js");

const redis = await startRedis(process.env.PEER_DATA_DIR);
const quirrel = await runQuirrel({
  port: 0,
  host: "127.0.0.1",
  redisFactory: createRedisFactory(redis.path),
  // It writes two lines for every job otherwise.
  logger: "none",
  // It refuses what exceeds 10,000 requests a minute otherwise.
  rateLimiter: { max: 1_000_000_000 },
  // No word may leave the machine while the bench runs.
  disableTelemetry: true,
});
console.log(`Quirrel is ready at http://127.0.0.1:${quirrel.httpServer.address().port}`);

let stopping = false;
async function stop() {
  if (stopping) return;
  stopping = true;
  await Promise.race([quirrel.close(), new Promise((resolve) => setTimeout(resolve, 3000))]);
  await redis.stop();
  process.exit(0);
}
process.on("SIGTERM", () => void stop());
process.on("SIGINT", () => void stop());
