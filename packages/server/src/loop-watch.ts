import { monitorEventLoopDelay } from "node:perf_hooks";

const SECOND_MS = 1_000;
/** How often the runtime looks, at no cost to speak of; what it measures is this much at least. */
const RESOLUTION_MS = 20;

/** Tells every second by how many milliseconds the event loop was late at worst. */
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
