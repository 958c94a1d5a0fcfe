import type { Time } from "../domain/time.ts";

/**
 * Group commit: items that arrive during a flush share the next one, which starts when the last returns. There is no
 * timer: a single item is flushed at once, a thousand share a commit.
 */
export interface GroupCommit<Item, Answer> {
  /** Resolves with this item's answer once its flush has committed. */
  add(item: Item): Promise<Answer>;
  /** Items not yet in a flush. */
  readonly waiting: number;
  /** Resolves when no item is waiting or in flight. */
  drained(): Promise<void>;
}

interface Entry<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
  readonly addedMs: number;
}

/** The longest delay of a refusal. One timer serves all items. */
const TICK_MS = 100;

/**
 * `flush` answers in the order of its items; an error as an answer refuses only its item. If it throws, every item of
 * that flush is refused with the error.
 */
export function createGroupCommit<Item, Answer>(options: {
  readonly flush: (items: readonly Item[]) => Promise<readonly (Answer | Error)[]>;
  /** Rows in one statement; beyond a few hundred a larger batch only adds latency. */
  readonly maxItems: number;
  /** Beyond this weight an item goes into the next flush; a heavier one gets its own flush. */
  readonly weight?: { readonly of: (item: Item) => number; readonly most: number };
  /** After the current turn of the event loop. */
  readonly soon: (work: () => void) => void;
  /** An item without an answer after this time is refused. If its flush has not started by then, it is never stored. */
  readonly patience?: {
    readonly ms: number;
    readonly time: Time;
    readonly refuse: (isBegun: boolean) => Error;
  };
}): GroupCommit<Item, Answer> {
  const { soon, patience } = options;
  const entries: Entry<Item, Answer>[] = [];
  let underWay: readonly Entry<Item, Answer>[] = [];
  let flushing = false;
  let watched = false;
  let onDrained: (() => void)[] = [];

  function nextBatch(): number {
    const { maxItems, weight } = options;
    if (weight === undefined) return maxItems;
    let sum = 0;
    const end = entries.findIndex(({ item }, index) => {
      sum += weight.of(item);
      return index === maxItems || (index > 0 && sum > weight.most);
    });
    return end === -1 ? entries.length : end;
  }

  async function flushAll(): Promise<void> {
    flushing = true;
    while (entries.length > 0) {
      const batch = entries.splice(0, nextBatch());
      underWay = batch;
      try {
        const answers = await options.flush(batch.map((entry) => entry.item));
        batch.forEach((entry, index) => {
          const answer = answers[index] as Answer | Error;
          if (answer instanceof Error) entry.reject(answer);
          else entry.resolve(answer);
        });
      } catch (error) {
        for (const entry of batch) entry.reject(error);
      }
      underWay = [];
      // Requests that are ready to be read join the next flush: many under load; otherwise this waits for none.
      await new Promise<void>((resolve) => soon(resolve));
    }
    flushing = false;
    const callbacks = onDrained;
    onDrained = [];
    for (const callback of callbacks) callback();
  }

  function watch({ ms, time, refuse }: NonNullable<typeof patience>): void {
    watched = true;
    time.setTimer(() => {
      const beforeMs = time.monotonicMs() - ms;
      for (const entry of underWay) if (entry.addedMs <= beforeMs) entry.reject(refuse(true));
      // Entries are in arrival order.
      const late = entries.findIndex(({ addedMs }) => addedMs > beforeMs);
      for (const entry of entries.splice(0, late === -1 ? entries.length : late)) entry.reject(refuse(false));
      watched = false;
      if (flushing) watch({ ms, time, refuse });
    }, TICK_MS);
  }

  return {
    add(item) {
      return new Promise((resolve, reject) => {
        entries.push({ item, resolve, reject, addedMs: patience?.time.monotonicMs() ?? 0 });
        if (patience !== undefined && !watched) watch(patience);
        // Starts after the current turn of the event loop, so that items that arrived together share a flush.
        if (!flushing) {
          flushing = true;
          soon(flushAll);
        }
      });
    },
    get waiting() {
      return entries.length;
    },
    drained() {
      return flushing ? new Promise((resolve) => onDrained.push(resolve)) : Promise.resolve();
    },
  };
}
