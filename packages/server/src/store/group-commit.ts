import type { Time } from "../domain/time.ts";

/**
 * Group commit: items that arrive during a flush share the next one, which starts when the last returns, or where
 * `pause` is given, a little later. A single item is flushed at once, a thousand share a commit.
 */
export interface GroupCommit<Item, Answer> {
  /** Resolves with this item's answer once its flush has committed. */
  add(item: Item): Promise<Answer>;
  /** Items not yet in a flush. */
  readonly waiting: number;
  /** Whether this many items wait, and of the item's team as many as its equal share of them. */
  isFull(item: Item, most: number): boolean;
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
  /** Items go into a flush up to this weight; a heavier one gets its own flush. */
  readonly weight?: { readonly of: (item: Item) => number; readonly most: number };
  /** Teams share the items and the weight of a flush equally. Without it all items are of one team. */
  readonly teamOf?: (item: Item) => number;
  /** After the current turn of the event loop. */
  readonly soon: (work: () => void) => void;
  /** Waits after a flush of several items, so that more of them share the next. Default: `soon`. */
  readonly pause?: (work: () => void) => void;
  /** An item without an answer after this time is refused. If its flush has not started by then, it is never stored. */
  readonly patience?: {
    readonly ms: number;
    readonly time: Time;
    readonly refuse: (isBegun: boolean) => Error;
  };
}): GroupCommit<Item, Answer> {
  const { maxItems, soon, pause = soon, patience, teamOf = () => 0 } = options;
  const { of: weigh, most: mostWeight } = options.weight ?? { of: () => 0, most: 0 };
  /** By team, in the order of their turns; those of a team in the order of their arrival. */
  const lines = new Map<number, Entry<Item, Answer>[]>();
  /** The teams of the last flush. */
  const served = new Set<number>();
  let waiting = 0;
  /** Items of the current flush that are not refused. */
  let underWay: readonly Entry<Item, Answer>[] = [];
  let flushing = false;
  let watched = false;
  let onDrained: (() => void)[] = [];

  function takeFrom(team: number, line: Entry<Item, Answer>[], count: number): Entry<Item, Answer>[] {
    waiting -= count;
    if (count < line.length) return line.splice(0, count);
    lines.delete(team);
    return line;
  }

  /** In rounds, each team with an equal share of what is left. Teams that the last flush did not serve come first. */
  function takeBatch(): Entry<Item, Answer>[] {
    putServedLast();
    const batch: Entry<Item, Answer>[] = [];
    let sum = 0;
    let teams = [...lines.keys()];
    while (teams.length > 0 && batch.length < maxItems) {
      const share = {
        items: Math.ceil((maxItems - batch.length) / teams.length),
        weight: (mostWeight - sum) / teams.length,
      };
      const taken = new Set<number>();
      for (const team of teams) {
        const line = lines.get(team) ?? [];
        const most = Math.min(share.items, line.length, maxItems - batch.length);
        let count = 0;
        let own = 0;
        for (; count < most; count += 1) {
          const more = weigh((line[count] as Entry<Item, Answer>).item);
          // The first of a flush may be heavier than any flush, and the first of a team than its share.
          const isTooHeavy = batch.length + count > 0 && sum + own + more > mostWeight;
          if (isTooHeavy || (count > 0 && own + more > share.weight)) break;
          own += more;
        }
        if (count === 0) continue;
        batch.push(...takeFrom(team, line, count));
        sum += own;
        taken.add(team);
        served.add(team);
      }
      teams = teams.filter((team) => taken.has(team) && lines.has(team));
    }
    return batch;
  }

  function putServedLast(): void {
    for (const team of served) {
      const line = lines.get(team);
      if (line === undefined) continue;
      lines.delete(team);
      lines.set(team, line);
    }
    served.clear();
  }

  function rejectAll(entries: readonly Entry<Item, Answer>[], error: unknown): void {
    for (const entry of entries) entry.reject(error);
  }

  async function flushAll(): Promise<void> {
    flushing = true;
    while (waiting > 0) {
      const batch = takeBatch();
      underWay = batch;
      try {
        const answers = await options.flush(batch.map((entry) => entry.item));
        batch.forEach((entry, index) => {
          const answer = answers[index] as Answer | Error;
          if (answer instanceof Error) entry.reject(answer);
          else entry.resolve(answer);
        });
      } catch (error) {
        rejectAll(batch, error);
      }
      underWay = [];
      // Requests that are ready to be read join the next flush: many under load; otherwise this waits for none.
      await new Promise<void>(batch.length > 1 ? pause : soon);
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
      const late = underWay.filter(({ addedMs }) => addedMs <= beforeMs);
      underWay = underWay.filter(({ addedMs }) => addedMs > beforeMs);
      const neverBegun = [...lines].flatMap(([team, line]) => {
        const inTime = line.findIndex(({ addedMs }) => addedMs > beforeMs);
        return takeFrom(team, line, inTime === -1 ? line.length : inTime);
      });
      // One error for all: the stacks of a thousand errors take as long as an insert.
      if (late.length > 0) rejectAll(late, refuse(true));
      if (neverBegun.length > 0) rejectAll(neverBegun, refuse(false));
      watched = false;
      if (flushing) watch({ ms, time, refuse });
    }, TICK_MS);
  }

  return {
    add(item) {
      return new Promise((resolve, reject) => {
        const entry = { item, resolve, reject, addedMs: patience?.time.monotonicMs() ?? 0 };
        const line = lines.get(teamOf(item));
        if (line === undefined) lines.set(teamOf(item), [entry]);
        else line.push(entry);
        waiting += 1;
        if (patience !== undefined && !watched) watch(patience);
        // Starts after the current turn of the event loop, so that items that arrived together share a flush.
        if (!flushing) {
          flushing = true;
          soon(flushAll);
        }
      });
    },
    get waiting() {
      return waiting;
    },
    isFull(item, most) {
      if (waiting < most) return false;
      const line = lines.get(teamOf(item));
      return line !== undefined && line.length * lines.size >= most;
    },
    drained() {
      return flushing ? new Promise((resolve) => onDrained.push(resolve)) : Promise.resolve();
    },
  };
}
