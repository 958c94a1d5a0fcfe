import type { Time } from "../domain/time.ts";

/**
 * Nothing is begun from an answer older than this. A statement is given up long before; but the process may have stood
 * still with the answer at its door. Shorter than what the reconciler waits before it gives a task back, and than a
 * lease.
 */
const TOO_OLD_MS = 4_000;

/** A claim or a hand-off that was asked for. */
export interface Question {
  /** Its answer comes too late: what it granted is to be given back. */
  isTooOld(): boolean;
  /** It was answered and what it granted is begun or given back; or it is given up, and nothing will be begun from it. */
  end(): void;
}

export interface Unanswered {
  ask(): Question;
  /** A point in time, to be asked about later. */
  mark(): number;
  /** No question from before this point is open any more. */
  isAnsweredUntil(mark: number): boolean;
}

/**
 * The questions to which the answer may be that a task is ours. As long as one is open, a task that the database holds for
 * this worker may be one that is about to begin here: the reconciler must not take it for lost.
 */
export function createUnanswered(time: Time): Unanswered {
  const open = new Set<number>();
  let next = 0;
  return {
    ask() {
      const number = next;
      const askedMs = time.monotonicMs();
      next += 1;
      open.add(number);
      return {
        isTooOld: () => time.monotonicMs() - askedMs > TOO_OLD_MS,
        end: () => open.delete(number),
      };
    },
    mark: () => next,
    isAnsweredUntil(mark) {
      // A set yields what was added first: the oldest.
      for (const number of open) return number >= mark;
      return true;
    },
  };
}
