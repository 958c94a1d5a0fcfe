import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Scene, Stage } from "../scene.ts";

/** As for the plan free, but for bytes, of which fewer are sooner used up. */
const BOUNDS = { queues: 50, vaultTokens: 50, tasksOpen: 10_000, bytesStored: 8_388_608 };
const TRIES = { things: 60, atOnce: 10, batches: 44, ofBatch: 250 };
const ANSWER_BYTES = 100_000;
/** So that the attack is what is stored, and not how fast: 80 of these a second. */
const ANSWER_AFTER_MS = 250;
/** Accepted before the first answer has come, each with one to store; from then on it is tried again and again. */
const FILL = { tasks: 250, atFirst: 6, everyMs: 500 };
/** Of what is stored the database takes more: rows, indexes, and the tasks of everybody else here. */
const OVERHEAD_BYTES = 20_000_000;

let storedBefore = 0;
let hoarderKey = "";

/** Tries to make more of a thing than there may be. */
async function makeMany(stage: Stage, path: string, bodyOf: (number: number) => object): Promise<void> {
  for (let first = 0; first < TRIES.things; first += TRIES.atOnce) {
    const make = (_: unknown, index: number) =>
      stage.request("POST", path, { key: hoarderKey, body: bodyOf(first + index) });
    await Promise.all(Array.from({ length: TRIES.atOnce }, make));
  }
}

async function hoard(stage: Stage): Promise<void> {
  await makeMany(stage, "/v1/queues", (number) => ({ name: `queue-${number}` }));
  await makeMany(stage, "/v1/tokens", (number) => ({ name: `token ${number}`, value: "Bearer secret" }));
  const task = { targetUrl: `${stage.target.url}/ok`, delay: 3_600 };
  const body = { tasks: Array.from({ length: TRIES.ofBatch }, () => task) };
  for (let number = 0; number < TRIES.batches; number += 1)
    await stage.request("POST", "/v1/tasks/batch", { key: hoarderKey, body });
}

export const scene: Scene = {
  what: "two teams store queues, tokens, tasks and long answers until they are refused",
  seconds: 15,
  // A plan that may ask more often than the plan free: what is to stop these teams is not the rate of their requests.
  env: { BELLHOP_PLAN_PRO: `${settings()},callsInFlight=20,callsPerSecondToHost=none` },
  async prepare(stage) {
    hoarderKey = (await stage.team({ plan: "pro", owner: "mallory@example.com" })).key;
    const { key: fillerKey } = await stage.team({ plan: "pro", owner: "trudy@example.com" });
    // Random, so that nothing of it is saved by compression.
    const long = randomBytes(ANSWER_BYTES / 2).toString("hex");
    stage.target.answer("/long", (_, response) => void setTimeout(() => response.end(long), ANSWER_AFTER_MS));
    await stage.must("POST", "/v1/queues", { key: fillerKey, body: { name: "wide", concurrency: 100 } });
    await hoard(stage);
    storedBefore = await stage.storedBytes();
    const task = { queue: "wide", webhook_url: `${stage.target.url}/long`, payload: {} };
    const body = { tasks: Array.from({ length: FILL.tasks }, () => task) };
    const fill = () => stage.request("POST", "/v1/tasks/batch", { key: fillerKey, body });
    return async (signal) => {
      await Promise.all(Array.from({ length: FILL.atFirst }, fill));
      while (!signal.aborted) {
        await fill();
        await sleep(FILL.everyMs);
      }
    };
  },
  async check(stage) {
    const { limits } = (await stage.must("GET", "/v1/me", { key: hoarderKey })).body as Me;
    const misses = (["queues", "vaultTokens", "tasksOpen"] as const)
      .filter((name) => limits[name].used !== BOUNDS[name])
      .map((name) => `${limits[name].used} ${name} where ${BOUNDS[name]} are allowed`);
    const grown = (await stage.storedBytes()) - storedBefore;
    if (grown > BOUNDS.bytesStored + OVERHEAD_BYTES)
      misses.push(`${Math.round(grown / 1e6)} MB are stored where ${BOUNDS.bytesStored / 1e6} are allowed`);
    return misses;
  },
};

interface Me {
  readonly limits: Record<keyof typeof BOUNDS, { readonly used: number }>;
}

function settings(): string {
  return Object.entries(BOUNDS)
    .map(([name, figure]) => `${name}=${figure}`)
    .join();
}
