import type { PageRequest } from "../../domain/page.ts";
import type { Webhook, WebhookTerms } from "../../domain/webhook.ts";
import { columns } from "../columns.ts";
import type { Sql } from "../sql.ts";

const WEBHOOK = columns(
  "w",
  "team_id, id, url, events, queue, tag, enabled, disabled_at, failing_since, created_at, updated_at",
);

export async function insertWebhook(
  sql: Sql,
  teamId: number,
  id: string,
  { url, events, queue, tag, enabled }: WebhookTerms,
): Promise<Webhook> {
  const [row] = await sql.rows<Webhook>(
    `insert into webhooks as w (team_id, id, url, events, queue, tag, enabled) values ($1, $2, $3, $4, $5, $6, $7)
     returning ${WEBHOOK}`,
    [teamId, id, url, events, queue, tag, enabled],
  );
  if (row === undefined) throw new Error("The webhook was not stored");
  return row;
}

/**
 * Omitted fields stay; null removes a condition. Enabling a webhook, again or still, resets its failure time. Null if
 * it does not exist.
 */
export async function updateWebhook(
  sql: Sql,
  teamId: number,
  id: string,
  changes: Partial<WebhookTerms>,
): Promise<Webhook | null> {
  const { url, events, queue, tag, enabled } = changes;
  const rows = await sql.rows<Webhook>(
    `update webhooks w
        set url = coalesce($3, w.url), events = coalesce($4::text[], w.events), queue = case when $8 then $5 else w.queue end,
            tag = case when $9 then $6 else w.tag end, enabled = coalesce($7, w.enabled),
            disabled_at = case when $7 then null else w.disabled_at end,
            failing_since = case when $7 then null else w.failing_since end, updated_at = now()
      where w.team_id = $1 and w.id = $2
     returning ${WEBHOOK}`,
    [
      teamId,
      id,
      url ?? null,
      events ?? null,
      queue ?? null,
      tag ?? null,
      enabled ?? null,
      queue !== undefined,
      tag !== undefined,
    ],
  );
  return rows[0] ?? null;
}

/** Also deletes its deliveries. */
export async function removeWebhook(sql: Sql, teamId: number, id: string): Promise<Webhook | null> {
  const rows = await sql.rows<Webhook>(
    `with gone as (
       delete from webhooks where team_id = $1 and id = $2 returning *
     ), dropped as (
       delete from webhook_deliveries d using gone g where d.team_id = g.team_id and d.webhook_id = g.id
     )
     select ${WEBHOOK} from gone w`,
    [teamId, id],
  );
  return rows[0] ?? null;
}

export async function findWebhook(sql: Sql, teamId: number, id: string): Promise<Webhook | null> {
  const rows = await sql.rows<Webhook>(
    `select ${WEBHOOK} from webhooks w where w.team_id = $1 and w.id = $2`,
    [teamId, id],
  );
  return rows[0] ?? null;
}

/** Newest first, before the given one. */
export async function listWebhooks(
  sql: Sql,
  teamId: number,
  { limit, cursor }: PageRequest,
): Promise<Webhook[]> {
  return sql.rows<Webhook>(
    `select ${WEBHOOK} from webhooks w where w.team_id = $1 and ($2::uuid is null or w.id < $2)
      order by w.id desc limit $3`,
    [teamId, cursor, limit],
  );
}

export async function enabledWebhooks(sql: Sql, teamId: number): Promise<Webhook[]> {
  return sql.rows<Webhook>(`select ${WEBHOOK} from webhooks w where w.team_id = $1 and w.enabled`, [teamId]);
}

/** A delivery succeeded: resets the failure time. */
export async function noteSuccess(sql: Sql, teamId: number, id: string): Promise<void> {
  await sql.rows(
    `update webhooks set failing_since = null where team_id = $1 and id = $2 and failing_since is not null`,
    [teamId, id],
  );
}

/** True if it has now failed for this many days and was disabled by this call. */
export async function noteFailure(sql: Sql, teamId: number, id: string, days: number): Promise<boolean> {
  const rows = await sql.rows<{ isOver: boolean }>(
    `with judged as (
       select team_id, id, now() as at, coalesce(failing_since < now() - make_interval(days => $3), false) as is_over
         from webhooks
        where team_id = $1 and id = $2 and enabled
          and (failing_since is null or failing_since < now() - make_interval(days => $3)) for update
     )
     update webhooks w
        set failing_since = coalesce(w.failing_since, j.at), enabled = not j.is_over,
            disabled_at = case when j.is_over then j.at end
       from judged j where w.team_id = j.team_id and w.id = j.id
     returning j.is_over as "isOver"`,
    [teamId, id, days],
  );
  return rows[0]?.isOver === true;
}
