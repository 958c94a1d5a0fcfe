import type { DeliveryVerdict } from "../../domain/delivery.ts";
import type { Principal, Requester } from "../../domain/identity/principal.ts";
import { requireRoom } from "../../domain/limits.ts";
import { cutPage, type Page, type PageRequest } from "../../domain/page.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId, readCursor } from "../../domain/public-id.ts";
import {
  deliveryName,
  TEST_EVENT,
  WEBHOOK_PATIENCE_DAYS,
  type Webhook,
  type WebhookDelivery,
  type WebhookTerms,
} from "../../domain/webhook.ts";
import { recordChange } from "../../service/audit/audit.ts";
import { newUuid } from "../../service/new-uuid.ts";
import type { StorageQuota } from "../../service/storage-quota.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { listenForEver, listenNoMore } from "../../store/tasks/event-reads.ts";
import {
  closeReader,
  type DeliveryClaim,
  findDelivery,
  insertDelivery,
  listDeliveries,
  openReader,
  settleDelivery,
} from "../../store/tasks/webhook-deliveries.ts";
import { holdTeamUsage } from "../../store/team-usage.ts";
import {
  enabledWebhooks,
  findWebhook,
  insertWebhook,
  listWebhooks,
  noteFailure,
  noteSuccess,
  removeWebhook,
  updateWebhook,
} from "./store.ts";

export interface WebhookService {
  create(requester: Requester, terms: WebhookTerms): Promise<Webhook>;
  /** Newest first. */
  list(principal: Principal, page: PageRequest): Promise<Page<Webhook>>;
  get(principal: Principal, id: string): Promise<Webhook>;
  update(requester: Requester, id: string, changes: Partial<WebhookTerms>): Promise<Webhook>;
  remove(requester: Requester, id: string): Promise<Webhook>;
  /** Newest first. */
  deliveries(principal: Principal, id: string, page: PageRequest): Promise<Page<WebhookDelivery>>;
  /** Sends an event of its own kind to this webhook alone. */
  test(requester: Requester, id: string): Promise<WebhookDelivery>;
  /** Sends the message of a delivery that is over once more, under the same message id. */
  redeliver(requester: Requester, id: string, deliveryId: string): Promise<WebhookDelivery>;
}

/** For any plan: each event is matched against each of them. */
const MOST_WEBHOOKS = 50;
/** A guess of what one delivery stores, until the database measures it. */
const DELIVERY_BYTES = 1_000;

export function createWebhookService(deps: {
  readonly database: Database;
  readonly storageQuota: Pick<StorageQuota, "store">;
  /** A webhook may have been added. */
  readonly onChanged: () => void;
  /** A delivery is due at once. */
  readonly onDelivery: () => void;
}): WebhookService {
  const { database } = deps;

  /** Changes the team's webhooks, records it, and stores events while at least one is enabled. */
  async function change(
    requester: Requester,
    action: string,
    detail: Readonly<Record<string, unknown>> | undefined,
    work: (sql: Sql, count: number) => Promise<Webhook | null>,
  ): Promise<Webhook> {
    const changed = await database.transaction(async (sql) => {
      const webhook = await work(sql, (await holdTeamUsage(sql, requester)).webhooks);
      if (webhook === null) throw new Problem("webhook_not_found");
      const target = formatId("wh", webhook.id);
      await recordChange(sql, requester, { action, target, ...(detail && { detail }) });
      await listenAsNeeded(sql, requester.teamId);
      return webhook;
    });
    deps.onChanged();
    return changed;
  }

  async function get({ teamId }: Principal, id: string): Promise<Webhook> {
    const webhook = await findWebhook(database, teamId, id);
    if (webhook === null) throw new Problem("webhook_not_found");
    return webhook;
  }

  /** The webhook must be on: otherwise the courier would give the delivery up. */
  async function send(
    requester: Requester,
    webhookId: string,
    action: string,
    make: (
      sql: Sql,
    ) => Promise<Pick<DeliveryClaim, "event" | "body" | "messageId"> & { readonly id: string }>,
  ): Promise<WebhookDelivery> {
    const { teamId } = requester;
    await deps.storageQuota.store(requester, DELIVERY_BYTES);
    const { enabled } = await get(requester, webhookId);
    if (!enabled) throw new Problem("webhook_off");
    const sent = await database.transaction(async (sql) => {
      const delivery = await make(sql);
      await insertDelivery(sql, teamId, { ...delivery, webhookId });
      await recordChange(sql, requester, { action, target: formatId("wh", webhookId) });
      return findDelivery(sql, teamId, webhookId, delivery.id);
    });
    if (sent === null) throw new Error("The delivery was not stored");
    deps.onDelivery();
    return sent;
  }

  return {
    get,
    test: (requester, id) =>
      send(requester, id, "webhook.tested", async () => {
        const own = newUuid();
        const data = { webhook: { id: formatId("wh", id) } };
        const body = JSON.stringify({ type: TEST_EVENT, timestamp: new Date().toISOString(), data });
        return { id: own, messageId: own, event: TEST_EVENT, body };
      }),
    redeliver: (requester, id, deliveryId) =>
      send(requester, id, "webhook.redelivered", async (sql) => {
        const earlier = await findDelivery(sql, requester.teamId, id, deliveryId);
        if (earlier === null) throw new Problem("delivery_not_found");
        const { status, body, event, messageId } = earlier;
        if (status === "pending") throw new Problem("delivery_pending");
        return { id: newUuid(), messageId, event, body };
      }),
    create: (requester, terms) =>
      change(requester, "webhook.created", named(withoutNulls(terms)), async (sql, count) => {
        requireRoom(requester, "webhooks", count);
        if (count >= MOST_WEBHOOKS) throw new Problem("webhooks_full", { limit: String(MOST_WEBHOOKS) });
        return insertWebhook(sql, requester.teamId, newUuid(), terms);
      }),
    async list({ teamId }, { limit, cursor }) {
      const page = { limit: limit + 1, cursor: readCursor("wh", cursor) };
      return cutPage(await listWebhooks(database, teamId, page), limit, ({ id }) => formatId("wh", id));
    },
    update: (requester, id, changes) =>
      change(requester, "webhook.updated", named(changes), (sql) =>
        updateWebhook(sql, requester.teamId, id, changes),
      ),
    remove: (requester, id) =>
      change(requester, "webhook.deleted", undefined, (sql) => removeWebhook(sql, requester.teamId, id)),
    async deliveries(principal, id, { limit, cursor }) {
      await get(principal, id);
      const page = { limit: limit + 1, cursor: readCursor("whd", cursor) };
      const found = await listDeliveries(database, principal.teamId, id, page);
      return cutPage(found, limit, (delivery) => deliveryName(delivery.id));
    },
  };
}

/** Valid while the team is locked: a webhook that is enabled meanwhile must not find the subscription ended. */
async function listenAsNeeded(sql: Sql, teamId: number): Promise<void> {
  if ((await enabledWebhooks(sql, teamId)).length > 0) {
    await listenForEver(sql, teamId);
    await openReader(sql, teamId);
  } else {
    await closeReader(sql, teamId);
    await listenNoMore(sql, teamId);
  }
}

function withoutNulls(terms: WebhookTerms): Partial<WebhookTerms> {
  return Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== null));
}

/** Without the URL: its query may contain a secret. */
function named({ url, ...terms }: Partial<WebhookTerms>): Record<string, unknown> {
  const said = Object.entries(terms).filter(([, value]) => value !== undefined);
  return { ...(url !== undefined && { host: new URL(url).host }), ...Object.fromEntries(said) };
}

/**
 * Stores the result of a delivery. A webhook that has failed for days is disabled, with an audit event, because no
 * person requested it.
 */
export function createDeliverySettlement({ database }: { readonly database: Database }) {
  return async (claim: DeliveryClaim, outcome: DeliveryVerdict): Promise<void> => {
    const { teamId, webhookId } = claim;
    await database.transaction(async (sql) => {
      if (!(await settleDelivery(sql, claim, outcome))) return;
      if (outcome.status === "delivered") {
        await noteSuccess(sql, teamId, webhookId);
        return;
      }
      if (!(await noteFailure(sql, teamId, webhookId, WEBHOOK_PATIENCE_DAYS))) return;
      await holdTeamUsage(sql, { teamId, environment: "live" });
      const author = {
        teamId,
        kind: "operator",
        id: "bellhop",
        name: "Bellhop",
        address: null,
        requestId: null,
      } as const;
      await recordChange(sql, author, {
        action: "webhook.disabled",
        target: formatId("wh", webhookId),
        detail: { reason: `Nothing was delivered for ${WEBHOOK_PATIENCE_DAYS} days`, error: outcome.error },
      });
      await listenAsNeeded(sql, teamId);
    });
  };
}
