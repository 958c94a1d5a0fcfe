import type { Lag } from "../checker/history.ts";
import { now } from "./clock.ts";

const BEAT_MS = 50;
/** Less than this is the ordinary unrest of a busy machine. */
const NOTED_MS = 100;

/** Notes when the runner itself was held up: what it saw then, it saw late. */
export function watchLag(): { readonly lags: Lag[]; stop(): void } {
  const lags: Lag[] = [];
  let expected = now() + BEAT_MS;
  const timer = setInterval(() => {
    const at = now();
    if (at - expected > NOTED_MS) lags.push({ at, ms: at - expected });
    expected = at + BEAT_MS;
  }, BEAT_MS);
  return { lags, stop: () => clearInterval(timer) };
}
