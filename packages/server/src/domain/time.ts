/**
 * Where time comes from. It is handed in where the house is put together, so that whatever naps, waits or asks for the
 * hour can live in the time of a test or a simulation.
 */
export interface Time {
  /** The hour, in milliseconds since 1970. It may step. */
  nowMs(): number;
  /** Milliseconds that only ever rise: for how long something took or may take. */
  monotonicMs(): number;
  /** Does the work once, after so many milliseconds. */
  setTimer(work: () => void, ms: number): Timer;
  /** Does the work after the current turn of the event loop: what is ready to be read by then is read first. */
  soon(work: () => void): void;
}

export interface Timer {
  cancel(): void;
}

/** Waits for the work, but no longer than so many milliseconds: the work itself goes on. */
export async function atMost(time: Time, work: Promise<void>, ms: number): Promise<void> {
  let timer: Timer | null = null;
  const late = new Promise<void>((resolve) => {
    timer = time.setTimer(resolve, ms);
  });
  await Promise.race([work, late]).finally(() => timer?.cancel());
}
