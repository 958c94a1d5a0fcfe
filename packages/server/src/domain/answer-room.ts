/** The largest text of an answer that is not streamed: the event loop builds it in a few milliseconds. */
export const MOST_ANSWER_BYTES = 1_048_576;

/** For what is around the entries: the member names, a cursor, the total. */
const FRAME_BYTES = 4_096;

/** The room in one answer. */
export interface AnswerRoom {
  /** Whether this text fits beside those before it. The first one always does: a list must go on. */
  take(text: string): boolean;
}

export function openAnswerRoom(): AnswerRoom {
  let bytes = FRAME_BYTES;
  let isEmpty = true;
  return {
    take(text) {
      const own = Buffer.byteLength(text) + 1;
      const fits = isEmpty || bytes + own <= MOST_ANSWER_BYTES;
      if (fits) bytes += own;
      isEmpty = false;
      return fits;
    },
  };
}
