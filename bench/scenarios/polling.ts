import { setTimeout as sleep } from "node:timers/promises";
import { bellhop } from "../subjects/bellhop.ts";
import { payloadFor } from "../subjects/subject.ts";
import { type Bench, type Scenario, withBellhop } from "./scenario.ts";

const intervalSeconds = 20;
const rate = 250;

export const polling: Scenario = {
  name: "polling",
  about: `10,000 tasks polled every ${intervalSeconds} s, and ${rate} tasks a second beside them`,
  isLight: false,
  starts: 3,
  variants: [
    { name: "none polled", subject: bellhop, measure: (bench) => measure(0, bench) },
    {
      name: "10,000 polled",
      subject: bellhop,
      measure: (bench) => measure(bench.options.rows(10_000), bench),
    },
  ],
};

async function measure(count: number, bench: Bench): Promise<void> {
  await withBellhop({}, async (rig) => {
    await rig.runClosed(bench.options.warmUp, 64);
    const poll = { urlTemplate: new URL("/poll", rig.targetUrl).href, interval: intervalSeconds };
    const answers = { statusPath: "status", doneValues: ["done"], failValues: [], maxDuration: 3600 };
    if (count > 0) {
      const started = await rig.runClosed(count, 64, {
        bodies: (seq, url) => [
          JSON.stringify({
            ...(JSON.parse(rig.subject.bodyFor(seq, url)) as object),
            payload: payloadFor(seq),
            poll_config: { ...poll, ...answers },
          }),
        ],
      });
      bench.check("start of the polling", started.load);
    }
    // The first polls come after one interval; from then on they are spread as the tasks were.
    if (count > 0) await sleep(intervalSeconds * 1000);
    const measured = await rig.runOpen(rate * intervalSeconds, rate);
    bench.check("beside the polling", measured.load);
    const { polls } = await rig.target.wait(0, 0);
    if (count > 0) bench.record("polls made / due", polls / count);
    bench.record("accept p50 ms", measured.load.acceptMs.p50);
    bench.record("accept p99 ms", measured.load.acceptMs.p99);
    bench.record("called p50 ms", measured.load.acceptToCallMs.p50);
    const used = rig.readUsage();
    bench.record("RSS MB", used.rssMb);
  });
}
