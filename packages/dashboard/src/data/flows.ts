import type { AnswerOf } from "@bellhop/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useAct } from "./act.ts";
import { bellhop } from "./client.ts";
import { live } from "./live.ts";

export type Flow = AnswerOf<"listFlows">["flows"][number];

/** What a flow was doing at one look. */
export interface Sample {
  readonly active: number;
  readonly waiting: number;
}

const EVERY_MS = 2_000;
/** Two minutes of looks. */
export const MOST_SAMPLES = 60;

/** Those whose key contains the text; the busiest first. */
export function useFlows(search: string) {
  const { isPaused } = live.use();
  // The stream of events does not tell what a flow is doing, so it does not replace looking.
  return useQuery({
    queryKey: ["flows", search],
    queryFn: ({ signal }) => bellhop.flows.list(search === "" ? {} : { search }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: isPaused ? false : EVERY_MS,
  });
}

/** What each flow was doing since the page was opened, the newest last: the server keeps no history of flows. */
export function useSamples(
  flows: readonly Flow[] | undefined,
  /** Changes with every look, also if the flows do not. */
  lookedAt: number,
): ReadonlyMap<string, readonly Sample[]> {
  const [samples, setSamples] = useState<ReadonlyMap<string, readonly Sample[]>>(new Map());
  useEffect(() => {
    if (flows === undefined || lookedAt === 0) return;
    setSamples(
      (before) =>
        new Map(
          flows.map(({ key, active, waiting }) => [
            key,
            [...(before.get(key) ?? []), { active, waiting }].slice(-MOST_SAMPLES),
          ]),
        ),
    );
  }, [flows, lookedAt]);
  return samples;
}

interface Pausing {
  readonly key: string;
  readonly isPaused: boolean;
}

/** Pauses or resumes; each takes the other back. */
export function usePauseFlow() {
  const set = ({ key, isPaused }: Pausing) =>
    isPaused ? bellhop.flows.pause(key) : bellhop.flows.resume(key);
  const said = (_: unknown, { key, isPaused }: Pausing) =>
    isPaused ? `Paused ${key}: running calls finish, no new ones start` : `Resumed ${key}`;
  const back = useAct(set, said);
  return useAct(set, (_, input) => ({
    text: said(_, input),
    undo: () => back.mutate({ ...input, isPaused: !input.isPaused }),
  }));
}

/** `5 at once, 100 in 60 s`. */
export function limitsText({ concurrency, rate, period, ordered }: Flow): string {
  const parts = [
    ...(ordered ? ["in strict order"] : concurrency === null ? [] : [`${concurrency} at once`]),
    ...(rate === null ? [] : [`${rate} in ${period ?? 1} s`]),
  ];
  return parts.length === 0 ? "no limit" : parts.join(", ");
}
