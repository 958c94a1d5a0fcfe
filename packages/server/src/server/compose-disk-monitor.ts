import type { Config } from "../config.ts";
import type { Log } from "../engine/log.ts";
import { freeDiskBytes, usedDiskPercent } from "../postgres/disk.ts";
import { createDiskMonitor, type DiskMonitor } from "../service/disk-monitor.ts";
import { readDatabaseBytes, vacuumTasks } from "../store/disk-usage.ts";
import type { Sql } from "../store/sql.ts";
import { removeExpiredTasks } from "../store/tasks/task-removals.ts";

/** The free space of the database, and the minimum. */
export interface Space {
  readonly freeBytes: () => Promise<number>;
  readonly markBytes: number;
  readonly usedPercent: () => Promise<number>;
}

/** On a nearly full disk, ended tasks are kept for an hour. */
const EARLY_DAYS = 1 / 24;
const EARLY_BATCH = 1_000;

/** Undefined if there is nothing to check. */
export function spaceOf(
  { freeSpaceBytes: markBytes, databaseLimitBytes }: Config,
  dataDir: string | null,
  sql: Sql,
): { readonly space?: Space } {
  if (markBytes === 0) return {};
  if (dataDir !== null)
    return {
      space: {
        markBytes,
        freeBytes: () => freeDiskBytes(dataDir),
        usedPercent: () => usedDiskPercent(dataDir),
      },
    };
  if (databaseLimitBytes === 0) return {};
  return {
    space: {
      markBytes,
      freeBytes: async () => databaseLimitBytes - (await readDatabaseBytes(sql)),
      usedPercent: async () => (100 * (await readDatabaseBytes(sql))) / databaseLimitBytes,
    },
  };
}

export function composeDiskMonitor(space: Space, sql: Sql, log: Log): DiskMonitor {
  return createDiskMonitor({
    ...space,
    log,
    async makeRoom() {
      const removed = await removeExpiredTasks(sql, EARLY_DAYS, EARLY_BATCH);
      if (removed < EARLY_BATCH) await vacuumTasks(sql);
      return removed;
    },
  });
}
