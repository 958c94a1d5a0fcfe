/**
 * The JSON of a statement must fit into a string and into PostgreSQL's jsonb (256 MiB), even if each character becomes
 * an escape of six. In characters.
 */
const MOST_IN_A_STATEMENT = 8 * 1_048_576;

/** Splits a batch in order, so that no statement is too large; a heavy item gets its own statement. */
export function inPortions<Item>(
  items: readonly Item[],
  weigh: (item: Item) => number,
  most = MOST_IN_A_STATEMENT,
): (readonly Item[])[] {
  const portions: (readonly Item[])[] = [];
  let start = 0;
  let weight = 0;
  for (const [index, item] of items.entries()) {
    const own = weigh(item);
    if (weight + own > most && index > start) {
      portions.push(items.slice(start, index));
      start = index;
      weight = 0;
    }
    weight += own;
  }
  portions.push(start === 0 ? items : items.slice(start));
  return portions;
}
