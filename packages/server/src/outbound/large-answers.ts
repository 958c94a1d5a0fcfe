/** A poll's answer is read this far: its status and result may stand anywhere in it. */
export const LARGE_ANSWER_BYTES = 16 * 1_048_576;

/** Each may hold its bytes, their text and what is parsed from it at the same time. */
const MOST_AT_ONCE = 4;

/** A turn to read a large answer. The others wait with their sockets paused, so that memory stays bounded. */
export interface LargeAnswers {
  /** Resolves when it is the asker's turn. */
  enter(): Promise<void>;
  leave(): void;
}

export function createLargeAnswers(): LargeAnswers {
  const waiting: (() => void)[] = [];
  let inside = 0;
  return {
    enter() {
      if (inside < MOST_AT_ONCE) {
        inside += 1;
        return Promise.resolve();
      }
      return new Promise((resolve) => waiting.push(resolve));
    },
    leave() {
      const next = waiting.shift();
      if (next === undefined) inside -= 1;
      else next();
    },
  };
}
