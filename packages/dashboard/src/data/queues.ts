import type { AnswerOf } from "@bellhop/sdk";
import { useAct } from "./act.ts";
import { bellhop } from "./client.ts";
import { useLiveQuery } from "./live.ts";
import { useSandbox } from "./sandbox.ts";

export type Queue = AnswerOf<"getQueue">;

/** Their counts are those of the sandbox while the reader looks at it. */
export function useQueues() {
  const sandbox = useSandbox();
  return useLiveQuery(["queues", sandbox], ({ signal }) => bellhop.queues.list(sandbox, { signal }));
}

/** Pauses or resumes; each takes the other back. */
export function usePause() {
  const set = (names: readonly string[], isPaused: boolean) =>
    Promise.all(names.map((name) => (isPaused ? bellhop.queues.pause(name) : bellhop.queues.resume(name))));
  const back = useAct(({ names, isPaused }: Pausing) => set(names, isPaused), said);
  return useAct(
    ({ names, isPaused }: Pausing) => set(names, isPaused),
    (_, { names, isPaused }) => ({
      text: said(_, { names, isPaused }),
      undo: () => back.mutate({ names, isPaused: !isPaused }),
    }),
  );
}

interface Pausing {
  readonly names: readonly string[];
  readonly isPaused: boolean;
}

function said(_: unknown, { names, isPaused }: Pausing): string {
  const what = names.length === 1 ? names[0] : `${names.length} queues`;
  return isPaused ? `Paused ${what}: running calls finish, no new ones start` : `Resumed ${what}`;
}
