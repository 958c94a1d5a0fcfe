import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";

const SECOND_MS = 1_000;
/** Share of a second in which the event loop works. */
const BUSY = 0.25;
/** So many busy seconds in a row are load; a start or a heavy request is shorter. */
const BUSY_SECONDS = 2;

/** Calls `onSecond` every second with the share of it in which the event loop worked. */
type WatchBusy = (onSecond: (share: number) => void) => { stop(): void };

/**
 * Makes V8 optimise earlier and inline more, once the server is under load. A server that does little would spend more on the
 * compiler than it gets back.
 */
export function optimiseUnderLoad(): void {
  onceUnderLoad(watchBusy, () => {
    optimiseEarlier();
    inlineMore();
  });
}

export function onceUnderLoad(watch: WatchBusy, work: () => void): void {
  let busySeconds = 0;
  const watching = watch((share) => {
    busySeconds = share < BUSY ? 0 : busySeconds + 1;
    if (busySeconds < BUSY_SECONDS) return;
    watching.stop();
    work();
  });
}

const watchBusy: WatchBusy = (onSecond) => {
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    onSecond(utilization);
  }, SECOND_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
};

/**
 * The V8 of Node 20 optimises a function when its executed bytecode has used up a budget of 66 kB several times. The work on
 * a task is spread over hundreds of small functions: after 20,000 tasks, V8 had not optimised half of it. Later versions of V8
 * count calls instead, and do not know this flag.
 */
function optimiseEarlier(): void {
  if (process.versions.v8.startsWith("11.")) setFlagsFromString("--interrupt-budget=1000");
}

/**
 * V8 stops inlining into a function after 920 bytes of bytecode. A request passes through dozens of short functions of Node,
 * fastify and undici, each a call of the next: with more room a task takes 5 % less CPU of the main thread once V8 has optimised
 * the code, after some ten thousand tasks. Still more room (5,000) gains nothing.
 */
function inlineMore(): void {
  setFlagsFromString("--max-inlined-bytecode-size=1000");
  setFlagsFromString("--max-inlined-bytecode-size-cumulative=2400");
}
