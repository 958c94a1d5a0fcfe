import type { PageRequest } from "../../domain/page.ts";
import type { Webhook, WebhookTerms } from "../../domain/webhook.ts";
import { columns } from "../../store/columns.ts";
import { type Sql, statement } from "../../store/sql.ts";

const WEBHOOK = columns(
  "w",
  "team_id, id, url, events, queue, tag, enabled, disabled_at, failing_since, created_at, updated_at",
);

const INSERT_WEBHOOK = statement(
  "insert_webhook",
  `insert into webhooks as w (team_id, id, url, events, queue, tag, enabled) values ($1, $2, $3, $4, $5, $6, $7)
   returning ${WEBHOOK}`,
);

export async function insertWebhook(
  sql: Sql,
  teamId: number,
  id: string,
  { url, events, queue, tag, enabled }: WebhookTerms,
): Promise<Webhook> {
  const [row] = await sql.rows<Webhook>(INSERT_WEBHOOK, [teamId, id, url, events, queue, tag, enabled]);
  if (row === undefined) throw new Error("The webhook was not stored");
  return row;
}

const UPDATE_WEBHOOK = statement(
  "update_webhook",
  `update webhooks w
      set url = coalesce($3, w.url), events = coalesce($4::text[], w.events), queue = case when $8 then $5 else w.queue end,
          tag = case when $9 then $6 else w.tag end, enabled = coalesce($7, w.enabled),
          disabled_at = case when $7 then null else w.disabled_at end,
          failing_since = case when $7 then null else w.failing_since end, updated_at = now()
    where w.team_id = $1 and w.id = $2
   returning ${WEBHOOK}`,
);

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
  const rows = await sql.rows<Webhook>(UPDATE_WEBHOOK, [
    teamId,
    id,
    url ?? null,
    events ?? null,
    queue ?? null,
    tag ?? null,
    enabled ?? null,
    queue !== undefined,
    tag !== undefined,
  ]);
  return rows[0] ?? null;
}

const REMOVE_WEBHOOK = statement(
  "remove_webhook",
  `with gone as (
     delete from webhooks where team_id = $1 and id = $2 returning *
   ), dropped as (
     delete from webhook_deliveries d using gone g where d.team_id = g.team_id and d.webhook_id = g.id
   )
   select ${WEBHOOK} from gone w`,
);

/** Also deletes its deliveries. */
export async function removeWebhook(sql: Sql, teamId: number, id: string): Promise<Webhook | null> {
  const rows = await sql.rows<Webhook>(REMOVE_WEBHOOK, [teamId, id]);
  return rows[0] ?? null;
}

const FIND_WEBHOOK = statement(
  "find_webhook",
  `select ${WEBHOOK} from webhooks w where w.team_id = $1 and w.id = $2`,
);

export async function findWebhook(sql: Sql, teamId: number, id: string): Promise<Webhook | null> {
  const rows = await sql.rows<Webhook>(FIND_WEBHOOK, [teamId, id]);
  return rows[0] ?? null;
}

const LIST_WEBHOOKS = statement(
  "list_webhooks",
  `select ${WEBHOOK} from webhooks w where w.team_id = $1 and ($2::uuid is null or w.id < $2)
    order by w.id desc limit $3`,
);

/** Newest first, before the given one. */
export async function listWebhooks(
  sql: Sql,
  teamId: number,
  { limit, cursor }: PageRequest,
): Promise<Webhook[]> {
  return sql.rows<Webhook>(LIST_WEBHOOKS, [teamId, cursor, limit]);
}

const ENABLED_WEBHOOKS = statement(
  "enabled_webhooks",
  `select ${WEBHOOK} from webhooks w where w.team_id = $1 and w.enabled`,
);

export async function enabledWebhooks(sql: Sql, teamId: number): Promise<Webhook[]> {
  return sql.rows<Webhook>(ENABLED_WEBHOOKS, [teamId]);
}

const NOTE_SUCCESS = statement(
  "note_success",
  `update webhooks set failing_since = null where team_id = $1 and id = $2 and failing_since is not null`,
);

/** A delivery succeeded: resets the failure time. */
export async function noteSuccess(sql: Sql, teamId: number, id: string): Promise<void> {
  await sql.rows(NOTE_SUCCESS, [teamId, id]);
}

const NOTE_FAILURE = statement(
  "note_failure",
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
);

/** True if it has now failed for this many days and was disabled by this call. */
export async function noteFailure(sql: Sql, teamId: number, id: string, days: number): Promise<boolean> {
  const rows = await sql.rows<{ isOver: boolean }>(NOTE_FAILURE, [teamId, id, days]);
  return rows[0]?.isOver === true;
}

const COUNT_DISABLED_WEBHOOKS = statement(
  "count_disabled_webhooks",
  `select count(*)::float8 as count from webhooks where team_id = $1 and disabled_at is not null and not enabled`,
);

/** Webhooks that Bellhop disabled and nobody has enabled since. */
export async function countDisabledWebhooks(sql: Sql, teamId: number): Promise<number> {
  const [row] = await sql.rows<{ count: number }>(COUNT_DISABLED_WEBHOOKS, [teamId]);
  return row?.count ?? 0;
}
