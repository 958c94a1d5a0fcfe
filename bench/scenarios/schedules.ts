import { setTimeout } from "node:timers/promises";
import { fillSchedules, readFirings } from "../fill.ts";
import { bellhop, benchQueue } from "../subjects/bellhop.ts";
import { payloadFor } from "../subjects/subject.ts";
import { type Bench, type Scenario, withBellhop } from "./scenario.ts";

const count = 10_000;
const leadSeconds = 5;
const longestSeconds = 120;

export const schedules: Scenario = {
  name: "schedules",
  about: "10,000 schedules that are due in the same second: seconds until each has its task",
  isLight: false,
  starts: 3,
  variants: [{ name: "bellhop", subject: bellhop, measure }],
};

async function measure(bench: Bench): Promise<void> {
  await withBellhop({}, async (rig) => {
    const rows = bench.options.rows(count);
    const payload = payloadFor(rig.reserve(1));
    const task = { queue: benchQueue, webhook_url: rig.targetUrl, payload };
    await rig.subject.ask("POST", "/v1/schedules", { name: "first", cron: "0 0 1 1 *", task });
    await fillSchedules(rig.subject.databaseUrl, { count: rows, inSeconds: leadSeconds });
    for (let waited = 0; waited < longestSeconds; waited += 1) {
      await setTimeout(1_000);
      const { fired, schedules, latestSeconds, medianSeconds } = await readFirings(rig.subject.databaseUrl);
      if (schedules < rows) continue;
      if (fired !== schedules) throw new Error(`${schedules} schedules made ${fired} tasks`);
      bench.record("median, s late", medianSeconds);
      bench.record("last, s late", latestSeconds);
      return;
    }
    throw new Error(`Not every schedule has fired after ${longestSeconds} s`);
  });
}
