import { FairQueue } from "../domain/fair-queue.ts";

/** Maximum bytes of a poll's answer: its status and result may be anywhere in it. */
export const LARGE_ANSWER_BYTES = 16 * 1_048_576;

/** Each may hold its bytes, their text and a copy of it for the thread that looks into it at the same time. */
const MOST_AT_ONCE = 2;

/**
 * Turns for reading a large answer until its values are extracted. The others wait with paused sockets, which limits
 * the memory; teams take turns.
 */
export interface LargeAnswers {
  /** Resolves when it is the asker's turn. */
  enter(teamId: number): Promise<void>;
  leave(): void;
}

export function createLargeAnswers(): LargeAnswers {
  const waiting = new FairQueue<() => void>();
  let inside = 0;
  return {
    enter(teamId) {
      if (inside < MOST_AT_ONCE) {
        inside += 1;
        return Promise.resolve();
      }
      return new Promise((resolve) => waiting.add(teamId, resolve));
    },
    leave() {
      const next = waiting.take();
      if (next === null) inside -= 1;
      else next.item();
    },
  };
}
