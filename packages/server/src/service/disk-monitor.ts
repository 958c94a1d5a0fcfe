import { Problem } from "../domain/problem.ts";

/** Whether the disk has room for more tasks. */
export interface DiskMonitor {
  readonly isLow: boolean;
  /** Checks the disk and frees space if necessary. Returns the milliseconds until the next check. */
  lookOnce(): Promise<number>;
}

const ROUND_MS = 10_000;

/**
 * A database on a full disk stops and interrupts running tasks. So below a threshold no task is accepted, while
 * accepted ones continue, and ended ones are deleted early.
 */
export function createDiskMonitor(deps: {
  /** Bytes that the database can still grow by. */
  readonly freeBytes: () => Promise<number>;
  readonly markBytes: number;
  /** Deletes a batch of ended tasks early. Returns their number; 0 if none is left. */
  readonly makeRoom: () => Promise<number>;
  readonly log: {
    warn(fields: object, message: string): void;
    info(fields: object, message: string): void;
  };
}): DiskMonitor {
  const { markBytes, log } = deps;
  let isLow = false;
  return {
    get isLow() {
      return isLow;
    },
    async lookOnce() {
      const freeBytes = await deps.freeBytes();
      const wasLow = isLow;
      isLow = freeBytes < markBytes;
      if (isLow && !wasLow) log.warn({ freeBytes, markBytes }, "space.low");
      if (!isLow && wasLow) log.info({ freeBytes, markBytes }, "space.enough");
      if (!isLow) return ROUND_MS;
      const removed = await deps.makeRoom();
      if (removed > 0) log.warn({ removed }, "tasks.removed_early");
      return removed > 0 ? 0 : ROUND_MS;
    },
  };
}

/** Freeing space takes a while. */
const SPACE_SECONDS = 30;

/** Refuses if the disk has no room for another task. */
export function requireSpace(monitor: Pick<DiskMonitor, "isLow"> | null): void {
  if (monitor?.isLow === true) throw new Problem("space_low", {}, { retryAfterSeconds: SPACE_SECONDS });
}
