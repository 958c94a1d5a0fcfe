import { accessForLiveKeys } from "../../api/http/access.ts";
import { callerOf, requesterOf } from "../../api/http/auth-hook.ts";
import { costs, MIB } from "../../api/http/cost.ts";
import { readIntegers } from "../../api/http/query-integers.ts";
import type { Api } from "../../api/http/schema-types.ts";
import { BODY_REFUSALS, refusals } from "../../api/schemas/error.ts";
import { ref } from "../../api/schemas/field.ts";
import { fitPage, PageQuery, readPage, showPage } from "../../api/schemas/page.ts";
import type { RefuseUrl } from "../../domain/call.ts";
import { invalid, mustBe } from "../../domain/complaint.ts";
import { Problem } from "../../domain/problem.ts";
import { formatId, parseId } from "../../domain/public-id.ts";
import { isStorable, STORABLE_RULE } from "../../domain/storable-text.ts";
import type { AlertTerms } from "./domain.ts";
import { type GivenChannel, type GivenCondition, readChannels, readCondition } from "./domain-terms.ts";
import * as record from "./schemas.ts";
import type { AlertService } from "./service.ts";
import { alertView } from "./view.ts";

const tags = ["Alerts"];

interface ChannelRules {
  readonly refuseUrl: RefuseUrl;
  /** False without a mail server. */
  readonly canMail: boolean;
}

export function registerAlertRoutes(
  app: Api,
  { alerts, ...rules }: ChannelRules & { readonly alerts: AlertService },
): void {
  app.post(
    "/alerts",
    {
      config: { ...accessForLiveKeys("webhooks:write"), ...costs("write", { rows: 11, bytes: MIB }) },
      schema: {
        operationId: "createAlert",
        tags,
        summary: "Create an alert",
        description:
          "Evaluated once a minute. When its condition has held for `for` seconds, every channel receives " +
          "`alert.firing`, then `alert.reminder` every 4 hours, and `alert.resolved` when it no longer holds.",
        body: ref(record.CreateAlert),
        response: {
          201: ref(record.AlertAnswer),
          ...refusals("alerts_full", "vault_off", ...BODY_REFUSALS),
        },
      },
    },
    async (request, reply) => {
      const { name, when, notify, enabled = true } = request.body;
      const read = readTerms({ name, when, notify }, rules);
      const terms = { name, when: read.when, notify: read.notify, enabled };
      const alert = await alerts.create(requesterOf(request), terms);
      reply.code(201);
      return { alert: alertView(alert) };
    },
  );

  app.get(
    "/alerts",
    {
      preValidation: readIntegers("limit"),
      config: { ...accessForLiveKeys("webhooks:read"), ...costs("page", { rows: 1_001, bytes: MIB }) },
      schema: {
        operationId: "listAlerts",
        tags,
        summary: "List alerts",
        description: "Newest first.",
        querystring: PageQuery,
        response: { 200: ref(record.AlertList), ...refusals() },
      },
    },
    async (request) => {
      const page = fitPage(await alerts.list(callerOf(request), readPage(request.query)), alertView);
      return { alerts: page.items, ...showPage(page, request.query) };
    },
  );

  app.get(
    "/alerts/:alert_id",
    {
      config: { ...accessForLiveKeys("webhooks:read"), ...costs("point", { rows: 11, bytes: MIB }) },
      schema: {
        operationId: "getAlert",
        tags,
        summary: "Get an alert",
        description: "One alert, its state, and whether its last messages were delivered.",
        params: record.AlertPath,
        response: { 200: ref(record.AlertAnswer), ...refusals("alert_not_found") },
      },
    },
    async (request) => ({
      alert: alertView(await alerts.get(callerOf(request), readId(request.params.alert_id))),
    }),
  );

  app.patch(
    "/alerts/:alert_id",
    {
      config: { ...accessForLiveKeys("webhooks:write"), ...costs("write", { rows: 11, bytes: MIB }) },
      schema: {
        operationId: "updateAlert",
        tags,
        summary: "Change an alert",
        description:
          "Fields that are not given stay as they are. `enabled: false` and a change of `when` set the state to `ok` " +
          "without a message.",
        params: record.AlertPath,
        body: ref(record.UpdateAlert),
        response: {
          200: ref(record.AlertAnswer),
          ...refusals("alert_not_found", "vault_off", ...BODY_REFUSALS),
        },
      },
    },
    async (request) => {
      const { name, when, notify, enabled } = request.body;
      const read = readTerms({ name, when, notify }, rules);
      const changes = {
        ...(name !== undefined && { name }),
        ...(when !== undefined && { when: read.when }),
        ...(notify !== undefined && { notify: read.notify }),
        ...(enabled !== undefined && { enabled }),
      };
      const alert = await alerts.update(requesterOf(request), readId(request.params.alert_id), changes);
      return { alert: alertView(alert) };
    },
  );

  app.delete(
    "/alerts/:alert_id",
    {
      config: { ...accessForLiveKeys("webhooks:write"), ...costs("write", { rows: 11, bytes: MIB }) },
      schema: {
        operationId: "deleteAlert",
        tags,
        summary: "Delete an alert",
        description: "Undelivered messages are dropped.",
        params: record.AlertPath,
        response: { 200: ref(record.DeletedAlert), ...refusals("alert_not_found") },
      },
    },
    async (request) => {
      const { id } = await alerts.remove(requesterOf(request), readId(request.params.alert_id));
      return { alert: { id: formatId("alr", id), deleted: true } };
    },
  );

  app.post(
    "/alerts/:alert_id/test",
    {
      config: { ...accessForLiveKeys("webhooks:write"), ...costs("write", { rows: 11, bytes: MIB }) },
      schema: {
        operationId: "testAlert",
        tags,
        summary: "Send a test message",
        description:
          "Sends `alert.test` to every channel. The state does not change. `last_sent_at` and `last_error` of the " +
          "channels show the result.",
        params: record.AlertPath,
        response: { 202: ref(record.AlertAnswer), ...refusals("alert_not_found", "test_mails_limited") },
      },
    },
    async (request, reply) => {
      const alert = await alerts.test(requesterOf(request), readId(request.params.alert_id));
      reply.code(202);
      return { alert: alertView(alert) };
    },
  );
}

const NOTHING: GivenCondition = { kind: "webhook_disabled" };

/** The fields of a request that are given, or the refusal with every rule that they break. */
function readTerms(
  {
    name,
    when,
    notify,
  }: {
    readonly name: string | undefined;
    readonly when: GivenCondition | undefined;
    readonly notify: readonly GivenChannel[] | undefined;
  },
  rules: ChannelRules,
): Pick<AlertTerms, "when" | "notify"> {
  const condition = readCondition(when ?? NOTHING);
  const channels = readChannels(notify ?? [], rules);
  const complaints = [
    ...(name === undefined || isStorable(name) ? [] : [mustBe("name", STORABLE_RULE)]),
    ...condition.complaints,
    ...channels.complaints,
  ];
  if (complaints.length > 0) throw invalid(complaints);
  return { when: condition.when, notify: channels.notify };
}

/** What cannot be an id gets the same answer as an unknown one. */
function readId(text: string): string {
  const id = parseId("alr", text);
  if (id === null) throw new Problem("alert_not_found");
  return id;
}
