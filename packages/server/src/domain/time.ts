/** The source of time. It is passed in at composition, so that tests and the simulation can control it. */
export interface Time {
  /** Wall-clock milliseconds since 1970. They may jump. */
  nowMs(): number;
  /** Monotonic milliseconds, for durations. */
  monotonicMs(): number;
  /** Runs the work once, after this many milliseconds. */
  setTimer(work: () => void, ms: number): Timer;
  /** Runs the work after the current turn of the event loop, after data that is ready to be read. */
  soon(work: () => void): void;
  /** Runs the work a few milliseconds later, so that more of it is done together. */
  shortly(work: () => void): void;
}

export interface Timer {
  cancel(): void;
}

/** Waits for the work at most this many milliseconds; the work itself continues. */
export async function atMost(time: Time, work: Promise<void>, ms: number): Promise<void> {
  let timer: Timer | null = null;
  const late = new Promise<void>((resolve) => {
    timer = time.setTimer(resolve, ms);
  });
  await Promise.race([work, late]).finally(() => timer?.cancel());
}
