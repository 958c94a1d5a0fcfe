import { fillTasks, readStarts } from "../fill.ts";
import type { Rig } from "../rig.ts";
import { mostInWindow, steadyRate } from "../statistics.ts";
import { bellhop, benchQueue, type RunningBellhop } from "../subjects/bellhop.ts";
import { payloadFor } from "../subjects/subject.ts";
import {
  type Bench,
  recordCpu,
  recordPostgres,
  type Scenario,
  type Variant,
  withBellhop,
} from "./scenario.ts";

const connections = 64;
const keys = 10_000;
const waiting = 100_000;
const freeRate = 250;
const ratePerSecond = 500;

type Flow = { key: string; concurrency?: number; rate?: number } | undefined;

export const flows: Scenario = {
  name: "flows",
  about: `${keys} keys and none; a free key beside ${waiting} waiting tasks of another; a rate of ${ratePerSecond}/s`,
  isLight: false,
  starts: 3,
  variants: [
    variant("no flow", (bench) => measureKeys(bench, [undefined])),
    variant("10 keys", (bench) => measureKeys(bench, numbered(10, connections))),
    variant("10,000 keys", (bench) => measureKeys(bench, numbered(keys, 10))),
    variant("free key", (bench) => measureFreeKey(bench, 0)),
    variant("free key, 100,000 of another waiting", (bench) =>
      measureFreeKey(bench, bench.options.rows(waiting)),
    ),
    variant("rate 500/s", measureRate),
  ],
};

function variant(name: string, measure: Variant["measure"]): Variant {
  return { name, subject: bellhop, measure };
}

function numbered(count: number, concurrency: number): Flow[] {
  return Array.from({ length: count }, (_, index) => ({ key: `customer-${index}`, concurrency }));
}

/** Tasks take turns with the flows. */
const bodiesOf = (flows: readonly Flow[]) => (seq: number, url: string) =>
  flows.map((flow) =>
    JSON.stringify({ queue: benchQueue, webhook_url: url, payload: payloadFor(seq), flow }),
  );

async function measureKeys(bench: Bench, flows: readonly Flow[]): Promise<void> {
  const { count, warmUp } = bench.options;
  await withBellhop({ ownDatabase: true }, async (rig) => {
    const bodies = bodiesOf(flows);
    await rig.runClosed(warmUp, connections, { bodies });
    const measured = await rig.runClosed(count, connections, { bodies });
    bench.check(`${flows.length} flows`, measured.load);
    bench.record("tasks/s", measured.load.tasksPerSecond);
    recordCpu(bench, measured);
    recordPostgres(bench, measured);
  });
}

async function measureFreeKey(bench: Bench, inFront: number): Promise<void> {
  const { seconds, warmUp } = bench.options;
  await withBellhop({}, async (rig) => {
    const bodies = bodiesOf([{ key: "free", concurrency: connections }]);
    await rig.runClosed(Math.min(warmUp, 5_000), connections, { bodies });
    if (inFront > 0) await fillWaiting(rig, inFront);
    const { load } = await rig.runOpen(freeRate * seconds, freeRate, { bodies });
    bench.check("free key", load);
    bench.record("called p50", load.acceptToCallMs.p50);
    bench.record("called p99", load.acceptToCallMs.p99);
    bench.record("submit → called p50", load.submitToCallMs.p50);
  });
}

/** One call of this flow begins in each second, so that its tasks are looked at again and again. */
async function fillWaiting(rig: Rig<RunningBellhop>, count: number): Promise<void> {
  const flow = { key: "saturated", rate: 1 };
  const payload = payloadFor(rig.reserve(1));
  await rig.subject.ask("POST", "/v1/tasks", {
    queue: benchQueue,
    webhook_url: rig.targetUrl,
    payload,
    flow,
  });
  await fillTasks(rig.subject.databaseUrl, {
    count,
    status: "pending",
    priority: 5,
    runAt: "now() - interval '2 hours' + n * interval '1 microsecond'",
    firstSeq: rig.reserve(count),
    targetUrl: rig.targetUrl,
    flow: flow.key,
  });
}

/**
 * By the arrivals at the target, which a busy machine delays by different times, and by the claims in the database, which it does
 * not: no window has more of either than the rate.
 */
async function measureRate(bench: Bench): Promise<void> {
  await withBellhop({}, async (rig) => {
    await rig.runClosed(Math.min(bench.options.warmUp, 5_000), connections);
    const bodies = bodiesOf([{ key: "rated", rate: ratePerSecond }]);
    const measured = await rig.runClosed(ratePerSecond * bench.options.seconds, connections, { bodies });
    bench.check("rate", measured.load);
    const arrivals = await rig.target.arrivals();
    bench.record("reached, %", (steadyRate(arrivals) * 100) / ratePerSecond);
    bench.record("most in a second, %", (mostInWindow(arrivals, 1_000) * 100) / ratePerSecond);
    const claims = await readStarts(rig.subject.databaseUrl, "rated");
    bench.record("most claimed in a second, %", (mostInWindow(claims, 1_000) * 100) / ratePerSecond);
    recordCpu(bench, measured);
  });
}
