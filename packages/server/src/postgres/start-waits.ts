import type { Log } from "./log.ts";

const SAY_AFTER_MS = 3_000;
const SAY_AGAIN_MS = 10_000;

/** Runs one step of a start. A slow step is logged repeatedly until it ends. */
export async function sayWhatIsAwaited<T>(log: Log, step: string, work: () => Promise<T>): Promise<T> {
  const beganMs = performance.now();
  const say = () => {
    log("start.waiting", { for: step, seconds: Math.round((performance.now() - beganMs) / 1000) });
    timer = setTimeout(say, SAY_AGAIN_MS);
  };
  let timer = setTimeout(say, SAY_AFTER_MS);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}
