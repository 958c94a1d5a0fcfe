import { invalid, mustBe } from "../../domain/complaint.ts";
import type { Principal, Requester } from "../../domain/identity/principal.ts";
import { cutPage, type Page, type PageRequest } from "../../domain/page.ts";
import { Problem, rateLimited } from "../../domain/problem.ts";
import { formatId, readCursor } from "../../domain/public-id.ts";
import { hashAddress, limitHits } from "../../service/access/hit-limit.ts";
import { recordChange } from "../../service/audit/audit.ts";
import { newUuid } from "../../service/new-uuid.ts";
import { isMemberAddress } from "../../store/identity/members.ts";
import { lockTeam } from "../../store/identity/teams.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { findQueue } from "../../store/tasks/queues.ts";
import type { Vault } from "../../vault/vault.ts";
import { type Alert, type AlertTerms, isSameCondition, MOST_ALERTS, type NewChannel } from "./domain.ts";
import { composeMessage } from "./domain-messages.ts";
import { placeChannels } from "./service-channels.ts";
import {
  countAlerts,
  deleteAlert,
  findAlert,
  insertAlert,
  listAlerts,
  type StoredAlert,
  updateAlert,
} from "./store.ts";
import { readChannelsOf, removeChannels } from "./store-channels.ts";
import { insertMessages } from "./store-messages.ts";

export interface AlertService {
  create(requester: Requester, terms: AlertTerms): Promise<Alert>;
  /** Newest first. */
  list(principal: Principal, page: PageRequest): Promise<Page<Alert>>;
  get(principal: Principal, id: string): Promise<Alert>;
  update(requester: Requester, id: string, changes: Partial<AlertTerms>): Promise<Alert>;
  remove(requester: Requester, id: string): Promise<Alert>;
  /** Sends a test message to every channel. */
  test(requester: Requester, id: string): Promise<Alert>;
}

export function createAlertService(deps: {
  readonly database: Database;
  readonly vault: Pick<Vault, "sealText">;
  readonly nowMs: () => number;
  /** Messages were stored. */
  readonly onStored: () => void;
}): AlertService {
  const { database } = deps;

  async function withChannels(sql: Sql, alerts: readonly StoredAlert[]): Promise<Alert[]> {
    const teamId = alerts[0]?.teamId ?? 0;
    const ids = alerts.map(({ id }) => id);
    const channels = await readChannelsOf(sql, teamId, ids);
    return alerts.map((alert) => ({
      ...alert,
      notify: channels.filter(({ alertId }) => alertId === alert.id),
    }));
  }

  async function whole(sql: Sql, stored: StoredAlert | null): Promise<Alert> {
    const [alert] = await withChannels(sql, stored === null ? [] : [stored]);
    if (alert === undefined) throw new Problem("alert_not_found");
    return alert;
  }

  /** Changes an alert and records the change. */
  function change(
    requester: Requester,
    action: string,
    detail: Readonly<Record<string, unknown>> | undefined,
    work: (sql: Sql) => Promise<Alert>,
  ): Promise<Alert> {
    return database.transaction(async (sql) => {
      const alert = await work(sql);
      const target = formatId("alr", alert.id);
      await recordChange(sql, requester, { action, target, ...(detail && { detail }) });
      return alert;
    });
  }

  async function checkReferences(sql: Sql, requester: Requester, terms: Partial<AlertTerms>): Promise<void> {
    const { teamId } = requester;
    const { when, notify = [] } = terms;
    if (when?.queue != null && (await findQueue(sql, requester, when.queue)) === null)
      throw invalid([mustBe("when.queue", "the name of a queue of the team")]);
    for (const [index, { kind, target }] of notify.entries()) {
      if (kind === "email" && !(await isMemberAddress(sql, teamId, target)))
        throw invalid([mustBe(`notify[${index}].email`, "the address of a member of the team")]);
    }
  }

  const storeChannels = (sql: Sql, alert: StoredAlert, notify: readonly NewChannel[]) =>
    placeChannels({ sql, vault: deps.vault }, alert, notify);

  return {
    create: (requester, terms) =>
      change(requester, "alert.created", recorded(terms), async (sql) => {
        const { teamId } = requester;
        // Of two requests that find room for one alert, the second one waits here.
        await lockTeam(sql, teamId);
        if ((await countAlerts(sql, teamId)) >= MOST_ALERTS)
          throw new Problem("alerts_full", { limit: String(MOST_ALERTS) });
        await checkReferences(sql, requester, terms);
        const alert = await insertAlert(sql, teamId, newUuid(), terms);
        await storeChannels(sql, alert, terms.notify);
        return whole(sql, alert);
      }),
    async list({ teamId }, { limit, cursor }) {
      const page = { limit: limit + 1, cursor: readCursor("alr", cursor) };
      const found = await withChannels(database, await listAlerts(database, teamId, page));
      return cutPage(found, limit, ({ id }) => formatId("alr", id));
    },
    get: async ({ teamId }, id) => whole(database, await findAlert(database, teamId, id)),
    update: (requester, id, changes) =>
      change(requester, "alert.updated", recorded(changes), async (sql) => {
        const { teamId } = requester;
        const before = await findAlert(sql, teamId, id, { lock: true });
        if (before === null) throw new Problem("alert_not_found");
        await checkReferences(sql, requester, changes);
        const { name = before.name, when = before.when, enabled = before.enabled, notify } = changes;
        const restarts = !enabled || !isSameCondition(when, before.when);
        const alert = await updateAlert(sql, { ...before, name, when, enabled }, restarts);
        if (alert !== null && notify !== undefined) await storeChannels(sql, alert, notify);
        return whole(sql, alert);
      }),
    remove: (requester, id) =>
      change(requester, "alert.deleted", undefined, async (sql) => {
        const alert = await whole(sql, await deleteAlert(sql, requester.teamId, id));
        await removeChannels(sql, requester.teamId, id, []);
        return alert;
      }),
    async test(requester, id) {
      const alert = await change(requester, "alert.tested", undefined, async (sql) => {
        const { teamId } = requester;
        const found = await whole(sql, await findAlert(sql, teamId, id));
        refuseOften(found, deps.nowMs());
        await countTestMails(sql, found);
        const { value, heldSince: since } = found;
        const message = composeMessage(found, { type: "alert.test", value, since });
        const messageId = newUuid();
        const messages = found.notify.map(({ id: channelId }) => ({
          id: newUuid(),
          messageId,
          channelId,
          message,
        }));
        await insertMessages(sql, teamId, messages);
        return found;
      });
      deps.onStored();
      return alert;
    },
  };
}

/** A key that sends tests in a loop must not flood a member's mailbox. */
const TEST_SECONDS = 5;

function refuseOften({ notify }: Alert, nowMs: number): void {
  const isRecent = notify.some(
    ({ kind, lastSentAt }) =>
      kind === "email" && lastSentAt !== null && nowMs - lastSentAt.getTime() < TEST_SECONDS * 1000,
  );
  if (isRecent) throw rateLimited(TEST_SECONDS);
}

/** To one address, by all alerts of all teams. */
const TEST_MAILS = { most: 5, seconds: 600 };

/** In the transaction: a refused test does not count. */
async function countTestMails(sql: Sql, { notify }: Alert): Promise<void> {
  const most = String(TEST_MAILS.most);
  const minutes = String(TEST_MAILS.seconds / 60);
  const sources = notify.flatMap(({ kind, target }) =>
    kind === "email" ? [`test mail to ${hashAddress(target)}`] : [],
  );
  // In order, so that two tests with the same members do not deadlock.
  for (const source of sources.sort())
    await limitHits(
      sql,
      source,
      TEST_MAILS,
      (retryAfterSeconds) => new Problem("test_mails_limited", { most, minutes }, { retryAfterSeconds }),
    );
}

/** For the audit log: without URLs, which may contain a secret. */
function recorded({ notify, ...terms }: Partial<AlertTerms>): Record<string, unknown> {
  const channels = notify?.map(({ kind, target }) => ({
    [kind === "email" ? "email" : "host"]: kind === "email" ? target : new URL(target).host,
  }));
  return { ...terms, ...(channels && { notify: channels }) };
}
