import { performance } from "node:perf_hooks";
import type { Time } from "../domain/time.ts";

/** How long `shortly` waits. */
export const SHORT_MS = 5;

/** The time of this machine. */
export const systemTime: Time = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer(work, ms) {
    const timer = setTimeout(work, ms);
    return { cancel: () => clearTimeout(timer) };
  },
  soon(work) {
    setImmediate(work);
  },
  shortly(work) {
    setTimeout(work, SHORT_MS);
  },
};
