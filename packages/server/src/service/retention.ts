import { EVENT_HOURS } from "../domain/event.ts";
import { removeOldAuditEvents } from "../store/identity/audit-events.ts";
import { removeExpiredCredentials } from "../store/identity/expired-credentials.ts";
import { removeLostNodes } from "../store/nodes.ts";
import type { Sql } from "../store/sql.ts";
import { removeOldBulks } from "../store/tasks/bulks.ts";
import { removeOldEvents } from "../store/tasks/event-reads.ts";
import { rollQueueStats } from "../store/tasks/queue-stats.ts";
import { removeOldDeliveries } from "../store/tasks/webhook-deliveries.ts";
import { removeRetiredSecrets } from "../store/vault/signing-secrets.ts";

const ROUND_MS = 60_000;
/** Small enough that no statement holds locks or writes WAL for long. */
const BATCH = 1_000;
/** A year, and a month to look back at it. */
const AUDIT_DAYS = 400;
const BULK_DAYS = 30;
/** The last try of a delivery is little more than a day after the first. */
const DELIVERY_DAYS = 7;
/** An hour longer than promised: the events of a resuming stream must not be deleted while it reads. */
const EVENT_HOURS_KEPT = EVENT_HOURS + 1;

/**
 * Deletes expired credentials, audit events, bulk actions, events and statistics, and merges older statistics. Returns
 * the milliseconds until the next round: 0 while there is more.
 */
export async function removeOldRecords(sql: Sql): Promise<number> {
  await removeRetiredSecrets(sql);
  await removeLostNodes(sql);
  const events = await removeOldAuditEvents(sql, AUDIT_DAYS, BATCH);
  const credentials = await removeExpiredCredentials(sql, BATCH);
  const bulks = await removeOldBulks(sql, BULK_DAYS, BATCH);
  const deliveries = await removeOldDeliveries(sql, DELIVERY_DAYS, BATCH);
  const happened = await removeOldEvents(sql, EVENT_HOURS_KEPT, BATCH);
  const areStatsLeft = await rollQueueStats(sql);
  const isMore =
    areStatsLeft || [happened, deliveries, events, bulks].includes(BATCH) || credentials >= BATCH;
  return isMore ? 0 : ROUND_MS;
}
