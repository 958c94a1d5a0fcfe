import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Scene, Stage } from "../scene.ts";
import { type Gauge, startGauge } from "./gauge-process.ts";
import type { GaugeJob, Readings } from "./readings.ts";
import { openStage } from "./stage.ts";
import { within } from "./within.ts";

/** A node that has just started has most of its memory still to take: it is worked warm first. */
const WARM_UP_TASKS = 1_500;
const WARM_UP_AT_ONCE = 32;
const CALM_MS = 4_000;
/** What was due while the attack lasted may still come; what takes longer is known to be late anyway. */
const AFTERMATH_MS = 1_500;
const LONGEST_SECONDS = 70;
const PREPARE_MS = 60_000;
/** Within what the free plan allows a minute. */
const VICTIM_EVERY_MS = 1_000;
/** For a 99th percentile: a team whose plan allows it. */
export const OFTEN_MS = 25;

export interface SceneResult {
  readonly calm: Readings;
  readonly attacked: Readings;
  /** What the scene itself found wrong. */
  readonly misses: readonly string[];
}

export async function runScene(scene: Scene): Promise<SceneResult> {
  const logs = mkdtempSync(join(tmpdir(), "bellhop-attack-log-"));
  const stage = await openStage(scene, join(logs, "server.log"));
  try {
    const gauge = await startGauge(join(logs, "gauge.log"));
    try {
      return await watch(scene, stage, gauge);
    } finally {
      await gauge.stop();
    }
  } finally {
    await stage.stop();
    rmSync(logs, { recursive: true, force: true });
  }
}

async function watch(scene: Scene, stage: Stage, gauge: Gauge): Promise<SceneResult> {
  const seconds = Math.min(scene.seconds ?? 10, LONGEST_SECONDS);
  await warmUp(stage);
  const isPercentile = scene.isFairness === true;
  const victim = await stage.team({
    owner: "victim@example.com",
    plan: isPercentile ? "enterprise" : "free",
  });
  const attack = await within(PREPARE_MS, scene.prepare(stage), "The scene was not prepared in time");
  const job: GaugeJob = {
    url: stage.url,
    pid: stage.pid,
    victim: scene.victim ?? "task",
    key: victim.key,
    everyMs: isPercentile ? OFTEN_MS : VICTIM_EVERY_MS,
  };
  gauge.watch(job);
  await sleep(CALM_MS);
  const calm = await gauge.reset();
  const over = new AbortController();
  const running = attack(over.signal).catch((error: unknown) => (over.signal.aborted ? undefined : error));
  await sleep(seconds * 1000);
  over.abort();
  const failure = await Promise.race([running, sleep(5_000)]);
  await sleep(AFTERMATH_MS);
  const attacked = await gauge.end();
  const misses = failure === undefined ? [] : [`the attack itself failed: ${failure}`];
  return { calm, attacked, misses: [...misses, ...((await scene.check?.(stage)) ?? [])] };
}

export async function warmUp(stage: Stage): Promise<void> {
  let left = WARM_UP_TASKS;
  const body = { targetUrl: `${stage.target.url}/ok`, method: "POST", body: "{}" };
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      await stage.must("POST", "/v1/tasks", { key: stage.operatorKey, body });
    }
  };
  await Promise.all(Array.from({ length: WARM_UP_AT_ONCE }, worker));
  // The first batch after a start compiles its validator.
  await stage.must("POST", "/v1/tasks/batch", { key: stage.operatorKey, body: { tasks: [body] } });
}
