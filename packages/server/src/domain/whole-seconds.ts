/** For `Retry-After`: rounded up, so that a client does not return too early, and at least 1. */
export function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
