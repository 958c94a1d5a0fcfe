import type { Config } from "./config.ts";
import type { Log } from "./engine/log.ts";
import { freeDiskBytes } from "./postgres/disk.ts";
import { createSpaceWatch, type SpaceWatch } from "./service/space-watch.ts";
import { readDatabaseBytes, vacuumTasks } from "./store/space.ts";
import type { Sql } from "./store/sql.ts";
import { removeExpiredTasks } from "./store/tasks/task-removals.ts";

/** How much the database can still grow, and below which mark that is too little. */
export interface Space {
  readonly freeBytes: () => Promise<number>;
  readonly markBytes: number;
}

/** Where the disk is nearly full, finished tasks are kept for an hour. */
const EARLY_DAYS = 1 / 24;
const EARLY_BATCH = 1_000;

/** Where there is nothing to look at, nothing is. */
export function spaceOf(
  { freeSpaceBytes: markBytes, databaseLimitBytes }: Config,
  dataDir: string | null,
  sql: Sql,
): { readonly space?: Space } {
  if (markBytes === 0) return {};
  if (dataDir !== null) return { space: { markBytes, freeBytes: () => freeDiskBytes(dataDir) } };
  if (databaseLimitBytes === 0) return {};
  return { space: { markBytes, freeBytes: async () => databaseLimitBytes - (await readDatabaseBytes(sql)) } };
}

export function composeSpaceWatch(space: Space, sql: Sql, log: Log): SpaceWatch {
  return createSpaceWatch({
    ...space,
    log,
    async makeRoom() {
      const removed = await removeExpiredTasks(sql, EARLY_DAYS, EARLY_BATCH);
      if (removed < EARLY_BATCH) await vacuumTasks(sql);
      return removed;
    },
  });
}
