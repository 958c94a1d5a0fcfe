import { removeOldAuditEvents } from "../store/audit-events.ts";
import { removeExpiredCredentials } from "../store/expired-credentials.ts";
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
/** A year, and a month to look back at it. */
const AUDIT_DAYS = 400;

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
      await removeRetiredSecrets(sql);
      const events = await removeOldAuditEvents(sql, AUDIT_DAYS, BATCH);
      const credentials = await removeExpiredCredentials(sql, BATCH);
      const more = orphans === BATCH || expired === BATCH || events === BATCH || credentials >= BATCH;
      return more ? 0 : ROUND_MS;
    },
  };
}
