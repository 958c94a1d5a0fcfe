import { keepPreviousData, type QueryKey, useQuery } from "@tanstack/react-query";
import { createStore } from "./store.ts";

const store = createStore<{ readonly isPaused: boolean; readonly isStreaming: boolean }>({
  isPaused: false,
  isStreaming: false,
});

/** Whether the page follows what happens; `p` switches it. */
export const live = {
  use: store.use,
  get: store.get,
  toggle: () => store.set({ ...store.get(), isPaused: !store.get().isPaused }),
  streaming: (isStreaming: boolean) => {
    if (store.get().isStreaming !== isStreaming) store.set({ ...store.get(), isStreaming });
  },
};

/** While the stream of events tells when to look, looking by itself only makes up for what the stream does not tell. */
const BESIDE_STREAM_MS = 30_000;

/** A query that comes again while the page is live. Old data stay in sight until the new are there. */
export function useLiveQuery<Data>(
  queryKey: QueryKey,
  queryFn: (context: { signal: AbortSignal }) => Promise<Data>,
  { everyMs = 2_000, enabled = true }: { readonly everyMs?: number; readonly enabled?: boolean } = {},
) {
  const { isPaused, isStreaming } = live.use();
  const interval = isStreaming ? Math.max(everyMs, BESIDE_STREAM_MS) : everyMs;
  return useQuery({
    queryKey,
    queryFn: ({ signal }) => queryFn({ signal }),
    enabled,
    placeholderData: keepPreviousData,
    refetchInterval: isPaused ? false : interval,
  });
}

/** A list that changes seldom, by its own method of the client. */
export function useList<Rows>(
  name: string,
  list: (options: { readonly signal: AbortSignal }) => Promise<Rows>,
  everyMs = 10_000,
) {
  return useLiveQuery([name], list, { everyMs });
}
