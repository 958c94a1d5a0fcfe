/** For `Retry-After`: whoever comes back then is not too early, and nobody is told to come back at once. */
export function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
