/**
 * Natural group commit: what arrives while a flush is under way goes into the next one, and the next one starts
 * the moment the last returns. No timer: a lone item is flushed at once, a thousand share a commit.
 */
export interface GroupCommit<Item, Answer> {
  /** Resolves with this item's answer once the flush that carried it has committed. */
  add(item: Item): Promise<Answer>;
  /** Items not yet in a flush. */
  readonly waiting: number;
  /** Resolves when nothing is waiting or in flight. */
  drained(): Promise<void>;
}

interface Entry<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** `flush` answers in the order of its items. If it throws, every item of that flush is refused with the error. */
export function createGroupCommit<Item, Answer>(options: {
  readonly flush: (items: readonly Item[]) => Promise<readonly Answer[]>;
  /** Rows in one statement; beyond a few hundred a larger batch only adds latency. */
  readonly maxItems: number;
  /** After the current turn of the event loop. */
  readonly soon: (work: () => void) => void;
}): GroupCommit<Item, Answer> {
  const entries: Entry<Item, Answer>[] = [];
  let flushing = false;
  let onDrained: (() => void)[] = [];

  async function flushAll(): Promise<void> {
    flushing = true;
    while (entries.length > 0) {
      const batch = entries.splice(0, options.maxItems);
      try {
        const answers = await options.flush(batch.map((entry) => entry.item));
        for (const [index, entry] of batch.entries()) entry.resolve(answers[index] as Answer);
      } catch (error) {
        for (const entry of batch) entry.reject(error);
      }
      // What is ready to be read joins the next flush: under load that is much, otherwise nothing waits for it.
      await new Promise<void>((resolve) => options.soon(resolve));
    }
    flushing = false;
    const callbacks = onDrained;
    onDrained = [];
    for (const callback of callbacks) callback();
  }

  return {
    add(item) {
      return new Promise((resolve, reject) => {
        entries.push({ item, resolve, reject });
        // Begin after the current turn of the loop, so that what arrived together leaves together.
        if (!flushing) {
          flushing = true;
          options.soon(flushAll);
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
