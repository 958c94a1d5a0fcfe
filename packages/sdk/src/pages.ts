interface Page {
  readonly pagination: { readonly nextCursor: string | null };
}

/** Everything on all pages, each page fetched when it is reached. */
export async function* walkPages<Query extends object, Fetched extends Page, Item>(
  query: Query,
  fetchPage: (query: Query) => Promise<Fetched>,
  itemsOf: (page: Fetched) => readonly Item[],
): AsyncGenerator<Item> {
  let next = query;
  for (;;) {
    const page = await fetchPage(next);
    yield* itemsOf(page);
    const cursor = page.pagination.nextCursor;
    if (cursor === null) return;
    // A cursor stands instead of an offset.
    next = { ...query, offset: undefined, cursor };
  }
}
