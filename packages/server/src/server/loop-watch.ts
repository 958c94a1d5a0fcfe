import { monitorEventLoopDelay } from "node:perf_hooks";

const SECOND_MS = 1_000;
/** The sampling interval of the runtime, at negligible cost; the measured delay is at least this. */
const RESOLUTION_MS = 20;

/** Reports every second the longest delay of the event loop in milliseconds. */
export function watchLoop(onSecond: (lateMs: number) => void): { stop(): void } {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  const timer = setInterval(() => {
    const lateMs = Math.max(0, delays.max / 1e6 - RESOLUTION_MS);
    delays.reset();
    onSecond(lateMs);
  }, SECOND_MS);
  timer.unref();
  return {
    stop() {
      clearInterval(timer);
      delays.disable();
    },
  };
}
