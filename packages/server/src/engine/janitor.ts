import type { Sql } from "../store/sql.ts";
import { removeOldKeys } from "../store/tasks/idempotency-keys.ts";
import {
  foldTallies,
  removeEmptyDeletedQueues,
  removeExpiredTasks,
  removePendingOfDeletedQueues,
} from "../store/tasks/task-removals.ts";

const ROUND_MS = 60_000;
/** Small enough that no statement holds locks or fills the log for long. */
const BATCH = 1_000;

export interface Janitor {
  /**
   * Removes tasks past their retention or without a queue, and what hung on them. Returns how long to nap: not at all
   * while there is more.
   */
  cleanOnce(): Promise<number>;
}

export function createJanitor(deps: { readonly sql: Sql; readonly retentionDays: number }): Janitor {
  const { sql } = deps;
  return {
    async cleanOnce() {
      // A task that was being inserted while its queue was deleted; a delete that died half-way.
      const orphans = await removePendingOfDeletedQueues(sql, { size: BATCH, only: null });
      const expired = await removeExpiredTasks(sql, deps.retentionDays, BATCH);
      await foldTallies(sql);
      await removeEmptyDeletedQueues(sql);
      await removeOldKeys(sql, BATCH);
      return orphans.removed === BATCH || expired === BATCH ? 0 : ROUND_MS;
    },
  };
}
