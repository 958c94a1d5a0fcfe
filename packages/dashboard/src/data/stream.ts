import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { bellhop } from "./client.ts";
import { live } from "./live.ts";
import { useSandbox } from "./sandbox.ts";

/** Numbers tick at most once a second. */
const TICK_MS = 1_000;
/** Rollups are made by the minute: looking at them with every event would be work for nothing. */
const STATS_MS = 5_000;
/** From this many events a second on, a refresh every two seconds costs the server less than the events. */
const MOST_EVENTS = 50;
const REST_MS = 60_000;

const OFTEN = ["tasks", "task", "explain", "queues", "schedules"];
const SELDOM = ["stats", "failures", "breakers"];

/**
 * Follows the stream of events while the page is live and looked at, and refetches what they affect. Without it, while
 * it is away, or when more happens than one can follow, the queries come again by themselves.
 */
export function useStream() {
  const queries = useQueryClient();
  const { isPaused, isStreaming } = live.use();
  const wasStreaming = useRef(false);
  const isSandbox = useSandbox().sandbox !== undefined;
  useEffect(() => {
    // A person is told of nothing that happens in the sandbox.
    if (isPaused || isSandbox) return;
    let stop: AbortController | null = null;
    let restTimer = 0;
    let count = 0;
    let statsAt = 0;

    const tick = () => {
      if (count === 0) return;
      const isBusy = count > MOST_EVENTS;
      count = 0;
      if (isBusy) return rest();
      void refresh(queries, OFTEN);
      if (Date.now() - statsAt < STATS_MS) return;
      statsAt = Date.now();
      void refresh(queries, SELDOM);
    };
    const rest = () => {
      close();
      restTimer = window.setTimeout(open, REST_MS);
    };
    const close = () => {
      stop?.abort();
      stop = null;
      window.clearTimeout(restTimer);
      live.streaming(false);
    };
    const open = () => {
      close();
      stop = new AbortController();
      // A refusal, as of one stream too many, leaves the page to its intervals.
      follow(stop.signal, () => {
        count += 1;
      }).catch(() => live.streaming(false));
    };
    const onVisible = () => (document.hidden ? close() : open());

    onVisible();
    document.addEventListener("visibilitychange", onVisible);
    const timer = window.setInterval(tick, TICK_MS);
    return () => {
      document.removeEventListener("visibilitychange", onVisible);
      window.clearInterval(timer);
      close();
    };
  }, [isPaused, isSandbox, queries]);

  // Changes between the last refresh and the reconnect may have no event: the stream resumes where it was, or is reset.
  useEffect(() => {
    if (isStreaming && wasStreaming.current) void refresh(queries, [...OFTEN, ...SELDOM]);
    wasStreaming.current ||= isStreaming;
  }, [isStreaming, queries]);
}

function refresh(queries: QueryClient, names: readonly string[]) {
  return queries.invalidateQueries({ predicate: ({ queryKey }) => names.includes(String(queryKey[0])) });
}

async function follow(signal: AbortSignal, onEvent: () => void): Promise<void> {
  for await (const _event of bellhop.events({}, { signal })) onEvent();
}
