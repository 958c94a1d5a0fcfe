import { access } from "../../api/http/access.ts";
import { callerOf, requesterOf } from "../../api/http/auth-hook.ts";
import { costs, MIB, SMALL } from "../../api/http/cost.ts";
import { readIntegers } from "../../api/http/query-integers.ts";
import type { Api } from "../../api/http/schema-types.ts";
import { BODY_REFUSALS, refusals } from "../../api/schemas/error.ts";
import { ref } from "../../api/schemas/field.ts";
import { fitPage, PageQuery, readPage, showPage } from "../../api/schemas/page.ts";
import type { RefuseUrl } from "../../domain/call.ts";
import { urlComplaint } from "../../domain/call.ts";
import { invalid, mustBe } from "../../domain/complaint.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId, parseId } from "../../domain/public-id.ts";
import { isStorable, STORABLE_RULE } from "../../domain/storable-text.ts";
import {
  deliveryName,
  WEBHOOK_PATIENCE_DAYS,
  type Webhook,
  type WebhookDelivery,
  type WebhookTerms,
} from "../../domain/webhook.ts";
import * as record from "./schemas.ts";
import type { WebhookService } from "./service.ts";

const tags = ["Events"];

export function registerWebhookRoutes(
  app: Api,
  { webhooks, refuseUrl }: { readonly webhooks: WebhookService; readonly refuseUrl: RefuseUrl },
): void {
  app.post(
    "/webhooks",
    {
      config: { ...access("webhooks:write"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "createWebhook",
        tags,
        summary: "Subscribe to events",
        description:
          "Sends every later event of these kinds to the URL as `{ type, timestamp, data }`, signed with the team's " +
          "signing secret by the rules of Standard Webhooks. An answer other than 2xx, or none within 30 s, is " +
          "retried: 8 tries in all, over 28 hours. Events may arrive twice and out of order.",
        body: ref(record.CreateWebhook),
        response: {
          201: ref(record.WebhookAnswer),
          ...refusals("webhooks_full", "limit_reached", ...BODY_REFUSALS),
        },
      },
    },
    async (request, reply) => {
      const { url, events, queue = null, tag = null, enabled = true } = request.body;
      const terms = { url, events, queue, tag, enabled };
      check(terms, refuseUrl);
      const webhook = await webhooks.create(requesterOf(request), terms);
      reply.code(201);
      return { webhook: webhookView(webhook) };
    },
  );

  app.get(
    "/webhooks",
    {
      preValidation: readIntegers("limit"),
      config: { ...access("webhooks:read"), ...costs("page", { rows: 1_001, bytes: MIB }) },
      schema: {
        operationId: "listWebhooks",
        tags,
        summary: "List subscriptions",
        description: "Newest first.",
        querystring: PageQuery,
        response: { 200: ref(record.WebhookList), ...refusals() },
      },
    },
    async (request) => {
      const page = fitPage(await webhooks.list(callerOf(request), readPage(request.query)), webhookView);
      return { webhooks: page.items, ...showPage(page, request.query) };
    },
  );

  app.get(
    "/webhooks/:webhook_id",
    {
      config: { ...access("webhooks:read"), ...costs("point", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "getWebhook",
        tags,
        summary: "Get a subscription",
        description: "One subscription, and whether its deliveries succeed.",
        params: record.WebhookPath,
        response: { 200: ref(record.WebhookAnswer), ...refusals("webhook_not_found") },
      },
    },
    async (request) => ({
      webhook: webhookView(await webhooks.get(callerOf(request), readId(request.params.webhook_id))),
    }),
  );

  app.patch(
    "/webhooks/:webhook_id",
    {
      config: { ...access("webhooks:write"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "updateWebhook",
        tags,
        summary: "Change a subscription",
        description:
          "What is not given stays as it is. One without a success for " +
          `${WEBHOOK_PATIENCE_DAYS} days is turned off, and on again by \`enabled: true\`.`,
        params: record.WebhookPath,
        body: ref(record.UpdateWebhook),
        response: { 200: ref(record.WebhookAnswer), ...refusals("webhook_not_found", ...BODY_REFUSALS) },
      },
    },
    async (request) => {
      check(request.body, refuseUrl);
      const id = readId(request.params.webhook_id);
      return { webhook: webhookView(await webhooks.update(requesterOf(request), id, request.body)) };
    },
  );

  app.delete(
    "/webhooks/:webhook_id",
    {
      config: { ...access("webhooks:write"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "deleteWebhook",
        tags,
        summary: "Delete a subscription",
        description: "Pending deliveries are dropped.",
        params: record.WebhookPath,
        response: { 200: ref(record.DeletedWebhook), ...refusals("webhook_not_found") },
      },
    },
    async (request) => {
      const { id } = await webhooks.remove(requesterOf(request), readId(request.params.webhook_id));
      return { webhook: { id: formatId("wh", id), deleted: true } };
    },
  );

  app.get(
    "/webhooks/:webhook_id/deliveries",
    {
      preValidation: readIntegers("limit"),
      config: { ...access("webhooks:read"), ...costs("page", { rows: 1_001, bytes: MIB }) },
      schema: {
        operationId: "listWebhookDeliveries",
        tags,
        summary: "List deliveries",
        description: "Newest first, for 7 days.",
        params: record.WebhookPath,
        querystring: PageQuery,
        response: { 200: ref(record.DeliveryList), ...refusals("webhook_not_found") },
      },
    },
    async (request) => {
      const id = readId(request.params.webhook_id);
      const page = fitPage(
        await webhooks.deliveries(callerOf(request), id, readPage(request.query)),
        deliveryView,
      );
      return { deliveries: page.items, ...showPage(page, request.query) };
    },
  );

  app.post(
    "/webhooks/:webhook_id/test",
    {
      config: { ...access("webhooks:write"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "testWebhook",
        tags,
        summary: "Send a test event",
        description:
          "Sends an event `webhook.test` to this webhook, whatever it subscribes to. The list of its deliveries shows " +
          "what became of it.",
        params: record.WebhookPath,
        response: {
          202: ref(record.DeliveryAnswer),
          ...refusals("webhook_not_found", "webhook_off", "limit_reached"),
        },
      },
    },
    async (request, reply) => {
      const delivery = await webhooks.test(requesterOf(request), readId(request.params.webhook_id));
      return reply.code(202).send({ delivery: deliveryView(delivery) });
    },
  );

  app.post(
    "/webhooks/:webhook_id/deliveries/:delivery_id/redeliver",
    {
      config: { ...access("webhooks:write"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "redeliverWebhook",
        tags,
        summary: "Deliver a message again",
        description:
          "Sends the message of a delivery that was delivered or given up once more, with all its tries: a new " +
          "delivery with the same `webhook-id`.",
        params: record.DeliveryPath,
        response: {
          202: ref(record.DeliveryAnswer),
          ...refusals(
            "webhook_not_found",
            "webhook_off",
            "delivery_not_found",
            "delivery_pending",
            "limit_reached",
          ),
        },
      },
    },
    async (request, reply) => {
      const { webhook_id, delivery_id } = request.params;
      const id = parseId("whd", delivery_id);
      const webhookId = readId(webhook_id);
      if (id === null) throw new Problem("delivery_not_found");
      const delivery = await webhooks.redeliver(requesterOf(request), webhookId, id);
      return reply.code(202).send({ delivery: deliveryView(delivery) });
    },
  );
}

function check({ url, tag }: Partial<WebhookTerms>, refuseUrl: RefuseUrl): void {
  const complaints = [
    url === undefined ? null : urlComplaint("url", url, refuseUrl),
    tag == null || isStorable(tag) ? null : mustBe("tag", STORABLE_RULE),
  ].filter((complaint) => complaint !== null);
  if (complaints.length > 0) throw invalid(complaints);
}

/** What cannot be an id gets the same answer as an unknown one. */
function readId(text: string): string {
  const id = parseId("wh", text);
  if (id === null) throw new Problem("webhook_not_found");
  return id;
}

function webhookView(webhook: Webhook): record.Webhook {
  return {
    id: formatId("wh", webhook.id),
    url: webhook.url,
    events: [...webhook.events],
    queue: webhook.queue,
    tag: webhook.tag,
    enabled: webhook.enabled,
    disabled_at: webhook.disabledAt?.toISOString() ?? null,
    failing_since: webhook.failingSince?.toISOString() ?? null,
    created_at: webhook.createdAt.toISOString(),
    updated_at: webhook.updatedAt.toISOString(),
  };
}

function deliveryView(delivery: WebhookDelivery): record.Delivery {
  return {
    id: deliveryName(delivery.id),
    message_id: deliveryName(delivery.messageId),
    event: delivery.event,
    status: delivery.status,
    attempts: delivery.attempts,
    response_code: delivery.responseCode,
    error: delivery.error,
    created_at: delivery.createdAt.toISOString(),
    next_at: delivery.nextAt?.toISOString() ?? null,
  };
}
