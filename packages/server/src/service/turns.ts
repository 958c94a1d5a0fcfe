import { FairQueue } from "../domain/fair-queue.ts";

/** Milliseconds in each turn of the event loop for all requests with many items together; then other work runs. */
const TURN_MS = 8;

/**
 * Works on the items one after another, in turns: a thousand of them must not delay other requests. `onTurn` gets the
 * milliseconds of each turn, and whether other work ran before it.
 */
export type InTurns = <Item, Result>(
  teamId: number,
  items: readonly Item[],
  work: (item: Item, index: number) => Result,
  onTurn?: (ms: number, hasWaited: boolean) => void,
) => Promise<Result[]>;

/** Requests share the time of a turn, the teams in turn: ten of them delay others no longer than one. */
export function createTurns(deps: {
  readonly nowMs: () => number;
  /** After the current turn of the event loop. */
  readonly soon: (work: () => void) => void;
}): InTurns {
  const waiting = new FairQueue<() => void>();
  let leftMs = TURN_MS;
  let isRenewing = false;
  /** A request was given the rest of the turn and has not used it yet. */
  let isGiven = false;

  function giveOn(): void {
    if (leftMs <= 0) return;
    const next = waiting.take();
    isGiven = next !== null;
    next?.item();
  }

  function spend(ms: number): void {
    leftMs -= ms;
    giveOn();
    if (isRenewing) return;
    isRenewing = true;
    deps.soon(() => {
      isRenewing = false;
      leftMs = TURN_MS;
      giveOn();
    });
  }

  return async <Item, Result>(
    teamId: number,
    items: readonly Item[],
    work: (item: Item, index: number) => Result,
    onTurn: (ms: number, hasWaited: boolean) => void = () => {},
  ) => {
    const results: Result[] = [];
    let hasWaited = false;

    function workInTurn(): void {
      const beganMs = deps.nowMs();
      let ms = 0;
      try {
        while (results.length < items.length && ms < leftMs) {
          results.push(work(items[results.length] as Item, results.length));
          ms = deps.nowMs() - beganMs;
        }
      } finally {
        onTurn(ms, hasWaited);
        spend(ms);
      }
    }

    while (results.length < items.length) {
      if (leftMs <= 0 || isGiven || waiting.size > 0) {
        await new Promise<void>((resolve) => waiting.add(teamId, resolve));
        isGiven = false;
        hasWaited = true;
      }
      workInTurn();
    }
    return results;
  };
}

export const inTurns = createTurns({ nowMs: () => performance.now(), soon: setImmediate });
