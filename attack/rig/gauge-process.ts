import { fileURLToPath } from "node:url";
import { type RunningProcess, startProcess } from "../../tools/child-process.ts";
import type { GaugeJob, Readings } from "./readings.ts";
import { within } from "./within.ts";

/** The gauge, which watches from a process of its own. */
export interface Gauge {
  watch(job: GaugeJob): void;
  /** What it has read since the last reset. */
  reset(): Promise<Readings>;
  /** The same, once it has stopped watching. */
  end(): Promise<Readings>;
  stop(): Promise<void>;
}

export async function startGauge(logFile: string): Promise<Gauge> {
  const args = ["--import", "tsx", fileURLToPath(new URL("gauge.ts", import.meta.url))];
  const gauge = await startProcess({ name: "gauge", args, logFile, ipc: true });
  return {
    watch: (job) => void gauge.child.send(job),
    reset: () => exchange(gauge, "reset"),
    end: () => exchange(gauge, "end"),
    stop: () => gauge.stop(),
  };
}

function exchange({ child }: RunningProcess, message: "reset" | "end"): Promise<Readings> {
  const answer = new Promise<Readings>((resolve) => {
    child.once("message", (readings) => resolve(readings as Readings));
  });
  child.send(message);
  return within(10_000, answer, "The gauge does not answer");
}
