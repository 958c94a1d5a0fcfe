/** What the time of the event loop is spent on. */
export type LoopWork = "request" | "answer";

export interface LoopShare {
  /** So many milliseconds of the event loop went into something that a team sent, or had sent to it. */
  spent(teamId: number, work: LoopWork, ms: number): void;
  /** Whether a team that may use so many milliseconds a second has to wait; null is no limit. */
  isOver(teamId: number, most: number | null): boolean;
  /** A second is over, in which the event loop was late by so much at worst. */
  endSecond(lateMs: number): void;
}

/** An event loop that is late by less keeps nobody waiting. */
const LATE_MS = 50;

/**
 * What keeps one team from the event loop's whole time: above its share its next requests are refused until the next second. Only
 * while it matters: the loop was late in the last second, and others were served in it. All that a request pays otherwise is an
 * addition.
 */
export function createLoopShare(
  onSpent: (work: LoopWork, seconds: number) => void = () => {},
  onSecond: (lateSeconds: number) => void = () => {},
): LoopShare {
  let current = new Map<number, number>();
  let last = new Map<number, number>();
  let isStrained = false;
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
      onSecond(lateMs / 1000);
    },
  };
}
