/** What is under way, by a key: much comes and goes, and little is there at a time. */
export interface UnderWay<Key, Value> {
  readonly size: number;
  readonly entries: Iterable<readonly [Key, Value]>;
  readonly values: Iterable<Value>;
  set(key: Key, value: Value): void;
  get(key: Key): Value | undefined;
  has(key: Key): boolean;
  delete(key: Key): void;
}

/**
 * A Map alone would hold on to two fifths of all that ever went through it, until the next full garbage collection: it
 * moves to a new table every few entries, V8 links each table to the one after it, and the first that grows old keeps
 * all later ones alive, with what was in them. Here that is a cell each, which is emptied when its value leaves.
 */
export function createUnderWay<Key, Value>(): UnderWay<Key, Value> {
  const cells = new Map<Key, { value: Value | undefined }>();

  function* entries(): Iterable<readonly [Key, Value]> {
    for (const [key, { value }] of cells) if (value !== undefined) yield [key, value];
  }

  function* values(): Iterable<Value> {
    for (const [, value] of entries()) yield value;
  }

  return {
    get size() {
      return cells.size;
    },
    get entries() {
      return entries();
    },
    get values() {
      return values();
    },
    set: (key, value) => void cells.set(key, { value }),
    get: (key) => cells.get(key)?.value,
    has: (key) => cells.has(key),
    delete(key) {
      const cell = cells.get(key);
      if (cell === undefined) return;
      cell.value = undefined;
      cells.delete(key);
    },
  };
}
