import { removeOldHits } from "../store/callbacks.ts";
import { removeOldKeys } from "../store/idempotency-keys.ts";
import { removeRetiredSecrets } from "../store/signing-secrets.ts";
import type { Sql } from "../store/sql.ts";
import {
  foldTallies,
  removeEmptyDeletedQueues,
  removeExpiredTasks,
  removePendingOfDeletedQueues,
} from "../store/task-removals.ts";

const ROUND_MS = 60_000;
/** Small enough that no statement holds locks or fills the log for long. */
const BATCH = 1_000;

export interface Janitor {
  /** Removes what nobody needs any more. Returns how long to nap: not at all while there is more. */
  cleanOnce(): Promise<number>;
}

export function createJanitor(deps: {
  readonly sql: Sql;
  readonly nodeId: () => number;
  readonly retentionDays: number;
}): Janitor {
  const { sql } = deps;
  return {
    async cleanOnce() {
      // A task that was being inserted while its queue was deleted; a delete that died half-way.
      const orphans = await removePendingOfDeletedQueues(sql, { size: BATCH, only: null }, deps.nodeId());
      const expired = await removeExpiredTasks(sql, deps.retentionDays, BATCH, deps.nodeId());
      await foldTallies(sql);
      await removeEmptyDeletedQueues(sql);
      await removeOldKeys(sql, BATCH);
      await removeOldHits(sql);
      await removeRetiredSecrets(sql);
      return orphans === BATCH || expired === BATCH ? 0 : ROUND_MS;
    },
  };
}
