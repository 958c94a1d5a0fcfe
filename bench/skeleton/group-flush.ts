/**
 * Natural group commit: whatever arrives while a flush is in flight forms the next group. There is no timer: when
 * idle a single item is flushed at once, and under load the groups grow by themselves.
 */
export function createGroupFlush<Item>(
  flush: (group: Item[]) => Promise<void>,
  maxGroup: number,
): (item: Item) => void {
  let waiting: Item[] = [];
  let inFlight = false;

  async function flushAll(): Promise<void> {
    inFlight = true;
    while (waiting.length > 0) {
      const group = waiting.length <= maxGroup ? waiting : waiting.slice(0, maxGroup);
      waiting = waiting.length <= maxGroup ? [] : waiting.slice(maxGroup);
      await flush(group);
    }
    inFlight = false;
  }

  return (item) => {
    waiting.push(item);
    if (!inFlight) void flushAll();
  };
}
