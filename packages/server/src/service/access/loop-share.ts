/** The use of event loop time. */
export type LoopWork = "request" | "answer";

export interface LoopShare {
  /** Adds milliseconds of event loop time to a team. */
  spent(teamId: number, work: LoopWork, ms: number): void;
  /** Whether a team with this limit per second has to wait; null is no limit. */
  isOver(teamId: number, most: number | null): boolean;
  /** Ends a second, with the longest delay of the event loop in it. */
  endSecond(lateMs: number): void;
  /** The longest delay of the event loop since the call before, in milliseconds. */
  takeLongestLateMs(): number;
}

/** A smaller delay of the event loop does not matter. */
const LATE_MS = 50;

/**
 * Prevents one team from using the whole event loop: above its share its next requests are refused until the next
 * second. Only while it matters: the loop was late in the last second, and other teams were served in it. Otherwise a
 * request costs one addition.
 */
export function createLoopShare(
  onSpent: (work: LoopWork, seconds: number) => void = () => {},
  onSecond: (lateSeconds: number) => void = () => {},
): LoopShare {
  let current = new Map<number, number>();
  let last = new Map<number, number>();
  let isStrained = false;
  let longestLateMs = 0;
  return {
    spent(teamId, work, ms) {
      current.set(teamId, (current.get(teamId) ?? 0) + ms);
      onSpent(work, ms / 1000);
    },
    isOver(teamId, most) {
      if (!isStrained || most === null) return false;
      return Math.max(last.get(teamId) ?? 0, current.get(teamId) ?? 0) > most;
    },
    endSecond(lateMs) {
      isStrained = lateMs >= LATE_MS && current.size > 1;
      last = current;
      current = new Map();
      longestLateMs = Math.max(longestLateMs, lateMs);
      onSecond(lateMs / 1000);
    },
    takeLongestLateMs() {
      const longest = longestLateMs;
      longestLateMs = 0;
      return longest;
    },
  };
}
