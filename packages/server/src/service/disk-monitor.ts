/** Whether there is room on the disk for more tasks. */
export interface DiskMonitor {
  readonly isLow: boolean;
  /** Looks, and makes room if there is too little. Returns how long to nap. */
  lookOnce(): Promise<number>;
}

const ROUND_MS = 10_000;

/**
 * A database on a full disk stops, and takes what is under way with it. So below a mark no task is accepted any more,
 * while those that were go on, and finished ones are removed long before their time.
 */
export function createDiskMonitor(deps: {
  /** Bytes that the database can still grow by. */
  readonly freeBytes: () => Promise<number>;
  readonly markBytes: number;
  /** Removes a batch of finished tasks early. Returns how many; none left when none. */
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
