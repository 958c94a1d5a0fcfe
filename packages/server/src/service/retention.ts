import { EVENT_HOURS } from "../domain/event.ts";
import { removeOldAuditEvents } from "../store/identity/audit-events.ts";
import { removeExpiredCredentials } from "../store/identity/expired-credentials.ts";
import { removeLostNodes } from "../store/nodes.ts";
import type { Sql } from "../store/sql.ts";
import { removeOldDedupeKeys } from "../store/tasks/dedupe-keys.ts";
import { removeOldEvents } from "../store/tasks/event-reads.ts";
import { removeRetiredSecrets } from "../store/vault/signing-secrets.ts";

const ROUND_MS = 60_000;
/** Small enough that no statement holds locks or writes WAL for long. */
export const REMOVED_TOGETHER = 1_000;
/** A year, and a month to look back at it. */
const AUDIT_DAYS = 400;
/** An hour longer than promised: the events of a resuming stream must not be deleted while it reads. */
const EVENT_HOURS_KEPT = EVENT_HOURS + 1;

/**
 * Deletes expired credentials, audit events, events and deduplication keys, and then the old records of the features. Returns the
 * milliseconds until the next round: 0 while there is more.
 */
export async function removeOldRecords(
  sql: Sql,
  ofFeatures: readonly ((sql: Sql) => Promise<boolean>)[],
): Promise<number> {
  await removeRetiredSecrets(sql);
  await removeLostNodes(sql);
  const audited = await removeOldAuditEvents(sql, AUDIT_DAYS, REMOVED_TOGETHER);
  const credentials = await removeExpiredCredentials(sql, REMOVED_TOGETHER);
  const events = await removeOldEvents(sql, EVENT_HOURS_KEPT, REMOVED_TOGETHER);
  const dedupeKeys = await removeOldDedupeKeys(sql, REMOVED_TOGETHER);
  let isMore = [audited, events, dedupeKeys].includes(REMOVED_TOGETHER) || credentials >= REMOVED_TOGETHER;
  for (const remove of ofFeatures) isMore = (await remove(sql)) || isMore;
  return isMore ? 0 : ROUND_MS;
}
