/** While more settlements than these wait, slots wait for them too: a slow database must not fill the memory. */
const MAX_UNSETTLED = 300;

/** The slot of one attempt. It is given back once. */
export interface AttemptSlot {
  /** The call has ended, and `unsettled` settlements wait. */
  called(unsettled: number): void;
  /** The attempt is settled, or given up. */
  ended(): void;
}

/** `isFreeAfterCall`: whether the next call may start before this one is settled. */
export function createAttemptSlot(isFreeAfterCall: () => boolean, giveBack: () => void): AttemptSlot {
  let isHeld = true;
  function ended(): void {
    if (!isHeld) return;
    isHeld = false;
    giveBack();
  }
  return {
    called(unsettled) {
      if (unsettled <= MAX_UNSETTLED && isFreeAfterCall()) ended();
    },
    ended,
  };
}
