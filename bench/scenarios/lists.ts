import { fillTasks } from "../fill.ts";
import { nowMs } from "../load/clock.ts";
import type { Rig } from "../rig.ts";
import { median } from "../statistics.ts";
import { bellhop, benchQueue, type RunningBellhop } from "../subjects/bellhop.ts";
import { type Bench, type Scenario, withBellhop } from "./scenario.ts";

const few = 10_000;
const rounds = 100;
const pages = {
  "queue with counts": `/v1/queues/${benchQueue}`,
  "all queues": "/v1/queues",
  "first page of tasks": "/v1/tasks?limit=50",
  "of a queue and state": `/v1/tasks?limit=50&queue=${benchQueue}&status=completed`,
};

/** Both sizes in one start: the second is the first, filled up. */
export const lists: Scenario = {
  name: "lists",
  about: `ms (median of ${rounds}) for pages of the API with 10,000,000 finished tasks, and with 10,000`,
  isLight: false,
  starts: 1,
  variants: [{ name: "bellhop", subject: bellhop, measure }],
};

async function measure(bench: Bench): Promise<void> {
  await withBellhop({}, async (rig) => {
    await fillFinished(rig, few);
    // The first requests of a process are slow whatever there is to read.
    for (const path of Object.values(pages)) await timePage(rig, path);
    for (const [name, path] of Object.entries(pages))
      bench.record(`${name}, 10,000`, await timePage(rig, path));
    await fillFinished(rig, bench.options.rows(10_000_000) - few);
    for (const [name, path] of Object.entries(pages))
      bench.record(`${name}, 10,000,000`, await timePage(rig, path));
  });
}

export async function timePage(rig: Rig<RunningBellhop>, path: string, times = rounds): Promise<number> {
  const took: number[] = [];
  for (let round = 0; round < times; round++) {
    const startedAt = nowMs();
    await rig.subject.ask("GET", path);
    took.push(nowMs() - startedAt);
  }
  return median(took);
}

async function fillFinished(rig: Rig<RunningBellhop>, count: number): Promise<void> {
  await fillTasks(rig.subject.databaseUrl, {
    count,
    status: "completed",
    priority: 5,
    runAt: "now()",
    firstSeq: rig.reserve(count),
    targetUrl: rig.targetUrl,
  });
}
