import { setTimeout as sleep } from "node:timers/promises";

/** Longer than any wait on a busy machine. A wait that takes longer fails, and its error names what the test waited for. */
export const PATIENCE_MS = 120_000;

export interface Patience {
  /** The pause between two checks, in which other processes can use the processor. */
  readonly everyMs?: number;
  /** What is waited for; by default the text of the condition. */
  readonly what?: () => string;
  readonly patienceMs?: number;
}

/** Checks the condition again and again until it holds. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  { everyMs = 1, what = () => String(holds), patienceMs }: Patience = {},
): Promise<void> {
  let isOver = false;
  const ask = async () => {
    while (!isOver && !(await holds())) await sleep(everyMs);
  };
  try {
    await inTime(ask(), what, patienceMs);
  } finally {
    isOver = true;
  }
}

/** The same promise, but it rejects if it is not settled in time. */
export async function inTime<T>(
  awaited: Promise<T>,
  what: () => string,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const late = Symbol("late");
  const over = new AbortController();
  const limit = sleep(patienceMs, late, { signal: over.signal }).catch(() => late);
  try {
    const first = await Promise.race([awaited, limit]);
    // Thrown here, and not by a timer, the error names the line that waited.
    if (first === late) throw new Error(`Still not so after ${patienceMs / 1000} s: ${what()}`);
    return first as T;
  } finally {
    over.abort();
  }
}
