import { bellhop } from "../subjects/bellhop.ts";
import { payloadFor } from "../subjects/subject.ts";
import { type Bench, recordCpu, type Scenario, warmUp, withBellhop } from "./scenario.ts";

export const failing: Scenario = {
  name: "failing",
  about: "every tenth task is answered 500 when it is first called, and called again a second later",
  isLight: false,
  variants: [0, 10].map((failEvery) => ({
    name: failEvery === 0 ? "none fails" : "10 % fail",
    subject: bellhop,
    measure: (bench) => measure(failEvery, bench),
  })),
};

async function measure(failEvery: number, bench: Bench): Promise<void> {
  await withBellhop({}, async (rig) => {
    const again = { name: "again", concurrency: 256, max_retries: 3, retry_backoff: "fixed", retry_delay: 1 };
    await rig.subject.ask("POST", "/v1/queues", again);
    await warmUp(rig, bench.options);
    const measured = await rig.runClosed(bench.options.count, 64, {
      failEvery,
      bodies: (seq, url) => [
        JSON.stringify({ queue: again.name, webhook_url: url, payload: payloadFor(seq) }),
      ],
    });
    bench.check("failing", measured.load);
    // What waits for its second call at the end would be measured as slowness.
    bench.record("tasks/s", measured.load.steadyTasksPerSecond);
    recordCpu(bench, measured);
  });
}
