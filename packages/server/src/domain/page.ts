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
}

/** Larger than the lists of nearly every team. */
export const LARGEST_PAGE = 1_000;

export const WHOLE_LIST: PageRequest = { limit: LARGEST_PAGE, cursor: null };

/** Cuts a result that was queried with one more entry than requested, which shows whether there is a next page. */
export function cutPage<T>(found: readonly T[], limit: number, cursorOf: (item: T) => string): Page<T> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const hasMore = found.length > limit;
  return { items, limit, hasMore, nextCursor: hasMore && last !== undefined ? cursorOf(last) : null };
}
