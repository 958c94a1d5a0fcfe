import type { Time } from "../domain/time.ts";

/**
 * No call starts from an answer older than this. A statement times out long before, but the process may have been
 * frozen with an unread answer. Shorter than the reconciler's wait before it releases a task, and than a lease.
 */
const TOO_OLD_MS = 4_000;

/** A claim or a hand-off that was requested. */
export interface Question {
  /** Its answer is too late: the granted tasks must be released. */
  isTooOld(): boolean;
  /** It was answered and its tasks were started or released; or it was given up, and none will start. */
  end(): void;
}

export interface Unanswered {
  ask(): Question;
  /** A point in time, for isAnsweredUntil. */
  mark(): number;
  /** No request from before this point is open. */
  isAnsweredUntil(mark: number): boolean;
}

/**
 * Open requests whose answer may assign a task to this worker. While one is open, a task that the database assigns to
 * this worker may be about to start: the reconciler must not treat it as lost.
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
      // A set iterates in insertion order, so the first is the oldest.
      for (const number of open) return number >= mark;
      return true;
    },
  };
}
