import type { Sql } from "../store/sql.ts";
import { removeOldKeys } from "../store/tasks/idempotency-keys.ts";
import {
  foldTallies,
  removeEmptyDeletedQueues,
  removeExpiredTasks,
  removePendingOfDeletedQueues,
} from "../store/tasks/task-removals.ts";
import { LEAN, type RoundCost } from "./round-cost.ts";

const ROUND_MS = 60_000;
/** Small enough that no statement holds locks or writes WAL for long. */
const BATCH = 1_000;
/** The statistics of each are looked for in more than a thousand places. */
const QUEUES_TOGETHER = 5;
export const JANITOR_COST: RoundCost = { rows: BATCH, bytes: BATCH * LEAN, turns: "oldest first" };

export interface Janitor {
  /**
   * Deletes tasks past their retention or without a queue, and their dependent rows. Returns the milliseconds until the
   * next round: 0 while there are more.
   */
  cleanOnce(): Promise<number>;
}

export function createJanitor(deps: { readonly sql: Sql; readonly retentionDays: number }): Janitor {
  const { sql } = deps;
  return {
    async cleanOnce() {
      // Left by an insert during the deletion of its queue, or by a deletion that crashed half-way.
      const orphans = await removePendingOfDeletedQueues(sql, { size: BATCH, only: null });
      const expired = await removeExpiredTasks(sql, deps.retentionDays, BATCH);
      await foldTallies(sql);
      const areMoreQueues = await removeEmptyDeletedQueues(sql, { queues: QUEUES_TOGETHER, stats: BATCH });
      const keys = await removeOldKeys(sql, BATCH);
      return areMoreQueues || [orphans.removed, expired, keys].includes(BATCH) ? 0 : ROUND_MS;
    },
  };
}
