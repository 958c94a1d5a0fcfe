import type { Fault } from "./history.ts";

/** What a fault left behind is given back within a lease and a round of the reaper. */
export const RECOVERY_MS = 20_000;

/** From when on no task waits because of one of these faults. */
export function recoveredAt(faults: readonly Fault[]): number {
  return Math.max(0, ...faults.map(({ to }) => to + RECOVERY_MS));
}
