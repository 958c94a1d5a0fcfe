/** Items in flight by key: many come and go, few are there at a time. */
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
 * A plain Map would retain two fifths of all its former entries until the next full garbage collection: it moves to a
 * new table every few entries, V8 links each table to the next, and the first that reaches the old generation keeps all
 * later ones alive, with their contents. Here only an empty cell per entry is retained.
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
