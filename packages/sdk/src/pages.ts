import type { AnswerOf, OperationId, QueryOf, Send } from "./operation.ts";
import type { RequestOptions } from "./transport.ts";

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

type Filter<Id extends OperationId> = [QueryOf<Id>] extends [never]
  ? object
  : Omit<QueryOf<Id>, "limit" | "cursor">;

/**
 * Makes methods of lists that are short: all of it at once, though a server may give a long one in pages. What a list can be
 * asked for besides stands among the options.
 */
export function createWhole(send: Send) {
  return <Id extends OperationId, Name extends keyof AnswerOf<Id> & string>(id: Id, name: Name) =>
    async (options: RequestOptions & Filter<Id> = {} as Filter<Id>): Promise<AnswerOf<Id>[Name]> => {
      const { signal, timeoutMs, maxRetries, ...asked }: RequestOptions = options;
      const request = {
        ...(signal && { signal }),
        ...(timeoutMs !== undefined && { timeoutMs }),
        ...(maxRetries !== undefined && { maxRetries }),
      };
      const items: unknown[] = [];
      let query: object = asked;
      for (;;) {
        const { answer } = await send(id, { query }, request);
        const page = answer as Partial<Page> & Record<string, unknown>;
        items.push(...(page[name] as unknown[]));
        const cursor = page.pagination?.nextCursor ?? null;
        if (cursor === null) return items as AnswerOf<Id>[Name];
        query = { ...asked, cursor };
      }
    };
}

export type Whole = ReturnType<typeof createWhole>;
