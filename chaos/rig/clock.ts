/**
 * The runner's clock is the machine's, as the database's is. Not a monotonic one, though it is finer: over minutes the two
 * drift apart by more than a call takes, and everything would seem to happen before its cause.
 */
export function now(): number {
  return Date.now();
}
