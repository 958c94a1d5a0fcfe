/** The runner's clock: as fine as the monotonic one, and on the same scale as the database's. */
const originMs = Date.now() - performance.now();

export function now(): number {
  return originMs + performance.now();
}
