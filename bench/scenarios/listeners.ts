import { once } from "node:events";
import { readUsage } from "../../tools/process-usage.ts";
import type { Rig } from "../rig.ts";
import { bellhop, type RunningBellhop } from "../subjects/bellhop.ts";
import { type Bench, recordCpu, type Scenario, warmUp, withBellhop } from "./scenario.ts";

export const listeners: Scenario = {
  name: "listeners",
  about:
    "64 connections that submit in a closed loop, while streams of every event are read on the same cores",
  isLight: false,
  variants: [0, 1, 10].map((streams) => ({
    name: streams === 0 ? "no stream" : streams === 1 ? "1 stream" : `${streams} streams`,
    subject: bellhop,
    measure: (bench) => measure(streams, bench),
  })),
};

async function measure(streams: number, bench: Bench): Promise<void> {
  const { count } = bench.options;
  await withBellhop({}, async (rig) => {
    const readers = streams === 0 ? undefined : await startReaders(rig, streams);
    await warmUp(rig, bench.options);
    const readBefore = readers?.cpuSeconds() ?? 0;
    const measured = await rig.runClosed(count, 64);
    bench.check(`${streams} streams`, measured.load);
    bench.record("tasks/s", measured.load.tasksPerSecond);
    recordCpu(bench, measured);
    if (readers === undefined) return;
    bench.record("readers", ((readers.cpuSeconds() - readBefore) * 1e6) / count);
    const lastCallAt = performance.now();
    await readers.waitFor(bench.options.warmUp + count);
    bench.record("ms until all is told", performance.now() - lastCallAt);
  });
}

async function startReaders(rig: Rig<RunningBellhop>, streams: number) {
  const { pid, child } = await rig.startScript("readers", {
    BENCH_EVENTS_URL: new URL("/v1/events", rig.subject.submitUrls[0]).href,
    BENCH_AUTHORIZATION: rig.subject.headers.authorization ?? "",
    BENCH_STREAMS: String(streams),
  });
  return {
    cpuSeconds: () => readUsage(pid).cpuSeconds,
    /** Without this a stream that stays silent would look cheap. */
    async waitFor(ends: number): Promise<void> {
      child.send(ends);
      const [told] = (await once(child, "message")) as [number];
      if (told < ends) throw new Error(`a stream told of ${told} of ${ends} tasks that ended`);
    },
  };
}
