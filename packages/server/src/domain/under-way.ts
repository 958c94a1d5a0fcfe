/** An item's place in the list. */
export interface Place<Item> {
  readonly item: Item;
  before: Place<Item> | null;
  after: Place<Item> | null;
  isTaken: boolean;
}

/** Items in flight, in the order of their arrival: many come and go, few are there at a time. */
export interface UnderWay<Item> {
  readonly size: number;
  /** A copy: items may come and go while it is read. */
  all(): Item[];
  add(item: Item): Place<Item>;
  /** Once for each item; later calls change nothing. */
  remove(place: Place<Item>): void;
}

/**
 * A linked list. A Map or Set would move to a new table every few items, and V8 links each table to the next: the first that
 * reaches the old generation keeps all later ones alive, with two fifths of all former items, until the next full garbage
 * collection. A removed place keeps only its item.
 */
export function createUnderWay<Item>(): UnderWay<Item> {
  let first: Place<Item> | null = null;
  let last: Place<Item> | null = null;
  let size = 0;

  return {
    get size() {
      return size;
    },
    all() {
      const items: Item[] = [];
      for (let place = first; place !== null; place = place.after) items.push(place.item);
      return items;
    },
    add(item) {
      const place: Place<Item> = { item, before: last, after: null, isTaken: true };
      if (last === null) first = place;
      else last.after = place;
      last = place;
      size += 1;
      return place;
    },
    remove(place) {
      if (!place.isTaken) return;
      const { before, after } = place;
      if (before === null) first = after;
      else before.after = after;
      if (after === null) last = before;
      else after.before = before;
      place.before = null;
      place.after = null;
      place.isTaken = false;
      size -= 1;
    },
  };
}
