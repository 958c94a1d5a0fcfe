import { fillTasks } from "../fill.ts";
import type { Rig } from "../rig.ts";
import { steadyRate } from "../statistics.ts";
import { bellhop, benchQueue, type RunningBellhop } from "../subjects/bellhop.ts";
import { type Bench, type Scenario, type Variant, withBellhop } from "./scenario.ts";

const few = 20_000;

export const pending: Scenario = {
  name: "pending",
  about: "claims with 1,000,000 tasks due, and with 20,000",
  isLight: false,
  starts: 3,
  variants: [
    variant("20,000", (rig, bench) => fillDue(rig, bench.options.rows(few))),
    variant("1,000,000", (rig, bench) => fillDue(rig, bench.options.rows(1_000_000))),
  ],
};

export const delayed: Scenario = {
  name: "delayed",
  about: "claims of 20,000 due tasks with 200,000 delayed tasks of a higher priority in front, and without",
  isLight: false,
  starts: 3,
  variants: [
    variant("none in front", (rig, bench) => fillDue(rig, bench.options.rows(few))),
    variant("200,000 in front", async (rig, bench) => {
      await fillDelayed(rig, bench.options.rows(200_000), 10);
      return fillDue(rig, bench.options.rows(few));
    }),
  ],
};

type Fill = (rig: Rig<RunningBellhop>, bench: Bench) => Promise<number>;

function variant(name: string, fill: Fill): Variant {
  return { name, subject: bellhop, measure: (bench) => measureClaims(fill, bench) };
}

async function measureClaims(fill: Fill, bench: Bench): Promise<void> {
  await withBellhop({}, async (rig) => {
    await rig.runClosed(bench.options.warmUp, 64);
    await rig.subject.ask("POST", `/v1/queues/${benchQueue}/pause`);
    const from = await fill(rig, bench);
    const watched = bench.options.rows(few);
    await rig.target.reset(from, watched);
    const before = rig.readUsage();
    await rig.subject.ask("POST", `/v1/queues/${benchQueue}/resume`);
    const stats = await rig.target.wait(20_000, 120_000);
    const after = rig.readUsage();
    if (stats.received < watched) throw new Error(`only ${stats.received} of ${watched} tasks were called`);
    // Some behind the last have been called meanwhile.
    const micros = (what: "mainSeconds" | "databaseSeconds") =>
      ((after[what] - before[what]) * 1e6) / (stats.received + stats.strays);
    bench.record("tasks/s", steadyRate(await rig.target.arrivals()));
    bench.record("CPU µs/task, main thread", micros("mainSeconds"));
    bench.record("database", micros("databaseSeconds"));
  });
}

/** Returns the sequence number of the first. */
async function fillDue(rig: Rig<RunningBellhop>, count: number): Promise<number> {
  const firstSeq = rig.reserve(count);
  await fillTasks(rig.subject.databaseUrl, {
    count,
    status: "pending",
    priority: 5,
    runAt: "now() - interval '2 hours' + n * interval '1 microsecond'",
    firstSeq,
    targetUrl: rig.targetUrl,
  });
  return firstSeq;
}

export async function fillDelayed(rig: Rig<RunningBellhop>, count: number, priority: number): Promise<void> {
  await fillTasks(rig.subject.databaseUrl, {
    count,
    status: "pending",
    priority,
    runAt: "now() + interval '6 hours' + n * interval '1 millisecond'",
    firstSeq: rig.reserve(count),
    targetUrl: rig.targetUrl,
  });
}
