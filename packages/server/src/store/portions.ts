/** Splits a batch in order, so that no statement is too large; a heavy item gets its own statement. */
export function inPortions<Item>(
  items: readonly Item[],
  weigh: (item: Item) => number,
  most: number,
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
