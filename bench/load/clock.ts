/**
 * Milliseconds on the machine's monotonic clock. Load generator and target are two processes whose times are
 * subtracted from each other, so performance.now() (zero at process start) and the wall clock (may be adjusted during
 * a run) are both unfit; hrtime has one zero for the whole machine. Adding an offset to performance.now() was tried:
 * its first call takes milliseconds, and the offset is wrong by as much.
 */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
