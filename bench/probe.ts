/**
 * Loaded into a subject that is measured (`node --import`), where it does nothing until the bench sends a signal. By turns it
 * counts what JavaScript allocates and how many promises it makes, from one signal to the next, and prints what it
 * counted. Counting costs: what is timed is over by then.
 */
import { createHook } from "node:async_hooks";
import { GCProfiler, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { probeSignal } from "./probe-signal.ts";

const counters = [countAllocation, countPromises];

/** Between two collections the heap grows by what is allocated, and both ends are a collection. */
function countAllocation(): () => number {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const profiler = new GCProfiler();
  profiler.start();
  collect();
  return () => {
    collect();
    const { statistics } = profiler.stop();
    return statistics.reduce((sum, { beforeGC }, index) => {
      const last = statistics[index - 1]?.afterGC.heapStatistics.usedHeapSize;
      return last === undefined ? 0 : sum + beforeGC.heapStatistics.usedHeapSize - last;
    }, 0);
  };
}

/** With those that V8 makes for an `await` only while somebody counts. */
function countPromises(): () => number {
  let promises = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === "PROMISE") promises += 1;
    },
  });
  hook.enable();
  return () => {
    hook.disable();
    return promises;
  };
}

let begun = 0;
let end: (() => number) | null = null;

process.on(probeSignal, () => {
  if (end === null) {
    end = counters[begun % counters.length]?.() ?? null;
    begun += 1;
    console.log(`Probe ${begun} has begun`);
  } else {
    console.log(`Probe ${begun} counted ${end()}`);
    end = null;
  }
});
