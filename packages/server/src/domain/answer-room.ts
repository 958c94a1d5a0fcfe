/** The largest text of an answer that is not streamed: the event loop builds it in a few milliseconds. */
export const MOST_ANSWER_BYTES = 1_048_576;

/** For what is around the entries: the member names, a cursor, the total. */
const FRAME_BYTES = 4_096;

/** The room in one answer. */
export interface AnswerRoom {
  /** Bytes: it is in vain to build a longer text. */
  readonly left: number;
  /**
   * Whether this text fits beside those before it, in the place of another one that has its room already. The first one of a
   * list always does: a list must go on.
   */
  take(text: string, instead?: string): boolean;
}

/** `reserved`: the bytes of what the answer has in any case. */
export function openAnswerRoom(reserved = 0): AnswerRoom {
  let bytes = FRAME_BYTES + reserved;
  let isEmpty = reserved === 0;
  return {
    get left() {
      return MOST_ANSWER_BYTES - bytes;
    },
    take(text, instead) {
      const own = Buffer.byteLength(text) + (instead === undefined ? 1 : -Buffer.byteLength(instead));
      const fits = isEmpty || bytes + own <= MOST_ANSWER_BYTES;
      if (fits) bytes += own;
      isEmpty = false;
      return fits;
    },
  };
}
