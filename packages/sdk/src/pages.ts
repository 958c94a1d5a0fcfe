import type { AnswerOf, OperationId, QueryOf, Send } from "./operation.ts";
import type { RequestOptions } from "./options.ts";
import { ROUTES, type Route } from "./routes.ts";

interface Page {
  readonly pagination: { readonly nextCursor: string | null };
}

/** Items by `for await`, or all of them at once. */
export type Listing<Item> = AsyncGenerator<Item> & {
  /** Reads to the end, or up to this many. */
  toArray(max?: number): Promise<Item[]>;
};

/** All items of all pages, each page fetched on demand. */
export function walkPages<Query extends object, Fetched extends Page, Item>(
  query: Query,
  fetchPage: (query: Query) => Promise<Fetched>,
  itemsOf: (page: Fetched) => readonly Item[],
): Listing<Item> {
  const items = walk(query, fetchPage, itemsOf);
  const toArray = async (max = Number.POSITIVE_INFINITY) => {
    const all: Item[] = [];
    if (max > 0) for await (const item of items) if (all.push(item) >= max) break;
    return all;
  };
  return Object.assign(items, { toArray });
}

async function* walk<Query extends object, Fetched extends Page, Item>(
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
    // A cursor replaces an offset.
    next = { ...query, offset: undefined, cursor };
  }
}

/** The filters of a list besides its pages. */
type Filter<Id extends OperationId> = [QueryOf<Id>] extends [never]
  ? object
  : Omit<QueryOf<Id>, "limit" | "cursor">;
type ListArgs<Id extends OperationId> = [keyof Filter<Id>] extends [never]
  ? [options?: RequestOptions]
  : [query?: Filter<Id>, options?: RequestOptions];

/** Creates methods for short lists: all items at once, even if the server returns pages. */
export function createWhole(send: Send) {
  return <Id extends OperationId, Name extends keyof AnswerOf<Id> & string>(id: Id, name: Name) => {
    const route: Route = ROUTES[id];
    const hasFilter = route.query.some((one) => one !== "limit" && one !== "cursor");

    return async (...args: ListArgs<Id>): Promise<AnswerOf<Id>[Name]> => {
      const [asked = {}, options] = hasFilter ? args : [{}, args[0]];
      const items: unknown[] = [];
      let query: object = asked;
      for (;;) {
        const { answer } = await send(id, { query }, options);
        const page = answer as Partial<Page> & Record<string, unknown>;
        items.push(...(page[name] as unknown[]));
        const cursor = page.pagination?.nextCursor ?? null;
        if (cursor === null) return items as AnswerOf<Id>[Name];
        query = { ...asked, cursor };
      }
    };
  };
}

export type Whole = ReturnType<typeof createWhole>;
