import { setImmediate } from "node:timers/promises";

/** Milliseconds per turn for the items of one request; then other work runs. */
const TURN_MS = 8;

/**
 * Works on the items one after another, in turns: a thousand of them must not delay other requests. `onTurn` gets the
 * milliseconds of each turn, which are numbered from 0.
 */
export async function inTurns<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Result,
  onTurn: (ms: number, turn: number) => void = () => {},
): Promise<Result[]> {
  const results: Result[] = [];
  let turn = 0;
  let beganMs = performance.now();
  for (const [index, item] of items.entries()) {
    if (performance.now() > beganMs + TURN_MS) {
      onTurn(performance.now() - beganMs, turn);
      await setImmediate();
      turn += 1;
      beganMs = performance.now();
    }
    results.push(work(item, index));
  }
  onTurn(performance.now() - beganMs, turn);
  return results;
}
