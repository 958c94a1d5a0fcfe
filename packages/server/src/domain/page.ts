/** A page of a list: this many entries after the cursor, or from the start. */
export interface PageRequest {
  readonly limit: number;
  readonly cursor: string | null;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly limit: number;
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
  /** The cursor of a page that begins behind this entry. */
  readonly cursorBehind: (index: number) => string;
}

/** Larger than the lists of nearly every team. */
export const LARGEST_PAGE = 1_000;

export const WHOLE_LIST: PageRequest = { limit: LARGEST_PAGE, cursor: null };

/** Cuts a result that was queried with one more entry than requested, which shows whether there is a next page. */
export function cutPage<T>(
  found: readonly T[],
  limit: number,
  cursorOf: (item: T, index: number) => string,
): Page<T> {
  const items = found.slice(0, limit);
  const hasMore = found.length > limit && items.length > 0;
  const cursorBehind = (index: number) => cursorOf(items[index] as T, index);
  return {
    items,
    limit,
    hasMore,
    nextCursor: hasMore ? cursorBehind(items.length - 1) : null,
    cursorBehind,
  };
}

/** Of a list whose order may change between pages, or that few teams read beyond its first: the cursor is a number of entries. */
export function offsetOf({ cursor }: PageRequest): number {
  const offset = Number(cursor ?? 0);
  return Number.isSafeInteger(offset) && offset >= 0 ? offset : 0;
}

export function cutPageAtOffset<T>(found: readonly T[], page: PageRequest): Page<T> {
  return cutPage(found, page.limit, (_, index) => String(offsetOf(page) + index + 1));
}
