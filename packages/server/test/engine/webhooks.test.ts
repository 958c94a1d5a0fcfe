import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import pg from "pg";
import type { Requester } from "../../src/domain/identity/principal.ts";
import { WHOLE_LIST } from "../../src/domain/page.ts";
import { formatId } from "../../src/domain/public-id.ts";
import { formatTaskId } from "../../src/domain/task-id.ts";
import type { Webhook, WebhookTerms } from "../../src/domain/webhook.ts";
import { createWebhookFanOut } from "../../src/features/webhooks/worker.ts";
import { removeOldRecords } from "../../src/service/retention.ts";
import { PAGE_EVENTS } from "../../src/service/tasks/event-pages.ts";
import { insertTasks } from "../../src/store/tasks/task-intake.ts";
import { untilEventsAreReadable } from "../event-log.ts";
import { openTestServer, QUEUE, type TestNode, type TestServer } from "../test-server.ts";
import { watchDatabase } from "../test-sql.ts";
import { newTask } from "../test-store.ts";

describe("webhooks", () => {
  let server: TestServer;
  let other: TestNode;
  let team: Requester;
  let status = 204;
  before(async () => {
    server = await openTestServer();
    other = await server.openNode();
  });
  after(() => server.close());
  beforeEach(async () => {
    team = await server.openTeam();
    server.target.calls.length = 0;
    status = 204;
    server.target.answer = ({ path }, response) =>
      void response.writeHead(path.startsWith("/hook") ? status : 200).end();
  });

  const subscribe = (terms: Partial<WebhookTerms> = {}): Promise<Webhook> =>
    server.services.features.webhooks.service.create(team, {
      url: `${server.target.url}/hook`,
      events: ["task.created"],
      queue: null,
      tag: null,
      enabled: true,
      ...terms,
    });
  const create = (fields: object = {}, by = team) => server.submit({ delaySeconds: 3600, ...fields }, by);
  /** What every node does within a few seconds. */
  const deliver = async () => {
    const nodes = [server, other];
    await untilEventsAreReadable(server.database);
    await Promise.all(nodes.map(({ engine }) => round(engine, "webhooks")));
    await Promise.all(nodes.map(({ engine }) => engine.webhookCourier.workOnce()));
    await Promise.all(nodes.map(({ engine }) => engine.webhookCourier.finished()));
  };
  const round = ({ actors }: TestServer["engine"], name: string) =>
    actors.all.find((actor) => actor.name === name)?.once();
  const hooks = () => server.target.calls.filter(({ path }) => path.startsWith("/hook"));
  const bodies = () => hooks().map(({ body }) => JSON.parse(body));
  const deliveries = async ({ id }: Webhook) =>
    (await server.services.features.webhooks.service.deliveries(team, id, WHOLE_LIST)).items;

  it("receive each subscribed event once, signed, from any node", async () => {
    const webhook = await subscribe({ events: ["task.created", "queue.paused"], queue: QUEUE, tag: null });
    await subscribe({ url: `${server.target.url}/hook-eu`, tag: "eu" });
    await server.queues.create(team, "letters", {});
    await create({ queue: "letters" });
    await create({ tags: ["eu"] });
    await create({}, { ...team, environment: "test" });
    await server.queues.setPaused(team, QUEUE, true);
    await deliver();
    await deliver();

    const told = bodies().map(({ type, data }) => [type, (data.task ?? data.queue).tags?.[0] ?? null]);
    assert.deepEqual(told.sort(), [
      ["queue.paused", null],
      ["task.created", "eu"],
      ["task.created", "eu"],
    ]);
    const [first] = hooks();
    assert.match(String(first?.headers["webhook-id"]), /^whd_[0-9a-z]{26}$/);
    assert.match(String(first?.headers["webhook-signature"]), /^v1,/);
    const [last, ...rest] = await deliveries(webhook);
    assert.deepEqual([last?.event, last?.status, last?.attempts], ["queue.paused", "delivered", 1]);
    assert.deepEqual([last?.responseCode, last?.error, last?.nextAt, rest.length], [204, null, null, 1]);
  });

  it("are tried eight times with growing delays and the same id and body, then given up", async () => {
    const webhook = await subscribe();
    status = 500;
    await create();
    await deliver();
    const waits: number[] = [];
    for (;;) {
      const [delivery] = await deliveries(webhook);
      if (delivery?.nextAt == null) break;
      waits.push(Math.round((delivery.nextAt.getTime() - Date.now()) / 1000));
      await server.advance(36_000);
      await deliver();
    }
    assert.deepEqual(
      waits.map((wait, at) => Math.abs(wait - ([5, 300, 1_800, 7_200, 18_000, 36_000, 36_000][at] ?? 0)) < 5),
      Array.from({ length: 7 }, () => true),
    );
    assert.equal(hooks().length, 8);
    assert.equal(new Set(hooks().map(({ headers, body }) => `${headers["webhook-id"]} ${body}`)).size, 1);
    const [delivery] = await deliveries(webhook);
    assert.deepEqual([delivery?.status, delivery?.error], ["failed", "The receiver answered 500"]);
  });

  it("are disabled with an audit event after five days of failures, and can be enabled again", async () => {
    const webhook = await subscribe();
    const failFor = async (days: number) => {
      await server.database.rows("update webhooks set failing_since = now() - make_interval(days => $1)", [
        days,
      ]);
      await create();
      await deliver();
      return server.services.features.webhooks.service.get(team, webhook.id);
    };
    status = 500;
    await create();
    await deliver();
    assert.notEqual(
      (await server.services.features.webhooks.service.get(team, webhook.id)).failingSince,
      null,
    );
    assert.equal((await failFor(4)).enabled, true);
    const off = await failFor(6);
    assert.deepEqual([off.enabled, off.disabledAt !== null], [false, true]);
    const log = await server.services.audit.list(team, {
      action: "webhook.disabled",
      limit: 10,
      cursor: null,
    });
    assert.equal(log.items.length, 1);

    status = 204;
    const before = hooks().length;
    await create();
    await deliver();
    assert.equal(hooks().length, before);
    const on = await server.services.features.webhooks.service.update(team, webhook.id, { enabled: true });
    assert.deepEqual([on.enabled, on.disabledAt, on.failingSince], [true, null, null]);
    await create();
    await deliver();
    assert.equal(hooks().length, before + 1);
  });

  it("get no earlier event when they are enabled again, whatever transaction of another program is open", async () => {
    const webhook = await subscribe();
    const { service } = server.services.features.webhooks;
    const foreign = new pg.Client(server.connection);
    await foreign.connect();
    try {
      await foreign.query("begin");
      await foreign.query("select pg_current_xact_id()");
      await create();
      await deliver();
      await service.update(team, webhook.id, { enabled: false });
      await create();
      await deliver();
      await service.update(team, webhook.id, { enabled: true });
      await create();
      await deliver();
    } finally {
      await foreign.end();
    }
    assert.equal(hooks().length, 2);
  });

  it("that succeed again are no longer marked as failing", async () => {
    const webhook = await subscribe();
    status = 500;
    await create();
    await deliver();
    status = 204;
    await server.advance(10);
    await deliver();
    assert.equal((await server.services.features.webhooks.service.get(team, webhook.id)).failingSince, null);
  });

  it("keep their team subscribed while one exists, and drop pending deliveries when deleted", async () => {
    const webhook = await subscribe();
    const until = async () =>
      (
        await server.database.rows<{ ever: boolean }>(
          "select until = 'infinity' as ever from listeners where team_id = $1",
          [team.teamId],
        )
      )[0]?.ever;
    assert.equal(await until(), true);
    await create();
    await untilEventsAreReadable(server.database);
    await Promise.all([server, other].map(({ engine }) => round(engine, "webhooks")));
    await server.services.features.webhooks.service.remove(team, webhook.id);
    assert.equal(await until(), false);
    await deliver();
    assert.deepEqual(hooks(), []);
    await assert.rejects(server.services.features.webhooks.service.get(team, webhook.id), {
      code: "webhook_not_found",
    });
  });

  it("get no pending deliveries after they were disabled", async () => {
    const webhook = await subscribe();
    await create();
    await untilEventsAreReadable(server.database);
    await round(server.engine, "webhooks");
    assert.equal((await deliveries(webhook)).length, 1);
    await server.services.features.webhooks.service.update(team, webhook.id, { enabled: false });
    await deliver();
    assert.deepEqual(hooks(), []);
  });

  it("get no events from before their creation", async () => {
    await subscribe();
    await create();
    await subscribe({ url: `${server.target.url}/hook/later` });
    // Instants are compared by the millisecond.
    await server.database.rows(
      "update webhooks set created_at = created_at + interval '1 s' where url like '%later'",
    );
    await deliver();
    assert.deepEqual(
      hooks().map(({ path }) => path),
      ["/hook"],
    );
  });

  it("get a delivery whose node died during it", async () => {
    await subscribe();
    await create();
    await untilEventsAreReadable(server.database);
    await round(server.engine, "webhooks");
    await server.database.rows(
      "update webhook_deliveries set worker_id = 0, attempts = 1 where team_id = $1",
      [team.teamId],
    );
    await server.engine.reaper.reapOnce();
    await deliver();
    assert.equal(hooks().length, 1);
  });

  it("ignore a late answer to a delivery that another node has claimed since", async () => {
    const webhook = await subscribe();
    server.target.answer = async (_, response) => {
      await server.database.rows("update webhook_deliveries set fence = fence + 1 where team_id = $1", [
        team.teamId,
      ]);
      response.writeHead(204).end();
    };
    await create();
    await deliver();
    assert.equal(hooks().length, 1);
    assert.equal((await deliveries(webhook))[0]?.status, "pending");
  });

  it("get the many events of one statement in portions, each once, from nodes that work at the same time", async () => {
    const webhooks = [await subscribe(), await subscribe()];
    const queue = { ...(await server.queues.get(team, QUEUE)), teamId: team.teamId };
    const submissions = Array.from({ length: 500 }, () => ({ task: newTask(queue), reservation: null }));
    await insertTasks(server.database, submissions, 0);
    const counted = "select count(*)::integer as count from events where team_id = $1";
    assert.deepEqual(await server.database.rows(counted, [team.teamId]), [{ count: 1 }]);
    await untilEventsAreReadable(server.database);
    const stored = () =>
      server.database.rows<{ webhookId: string; body: string }>(
        `select webhook_id as "webhookId", body from webhook_deliveries where team_id = $1`,
        [team.teamId],
      );

    assert.equal(await round(server.engine, "webhooks"), 0);
    const ofOne = (await stored()).length;
    assert.ok(ofOne > 0 && ofOne <= 2 * PAGE_EVENTS, `${ofOne} deliveries`);
    for (let rounds = 1; rounds < 500 / PAGE_EVENTS; rounds += 1)
      await Promise.all([server, other].map(({ engine }) => round(engine, "webhooks")));

    const expected = submissions.map(({ task }) => formatTaskId(task.id)).sort();
    for (const { id } of webhooks) {
      const own = (await stored()).filter(({ webhookId }) => webhookId === id);
      assert.deepEqual(own.map(({ body }) => JSON.parse(body).data.task.id).sort(), expected);
      await server.services.features.webhooks.service.remove(team, id);
    }
  });

  it("get as many events in a portion as their bodies have room, one at least", async () => {
    const webhook = await subscribe();
    for (let left = 3; left > 0; left -= 1) await create();
    await untilEventsAreReadable(server.database);
    const inWords = () => "x".repeat(2 ** 20);
    const sql = watchDatabase(server.database);
    const fanOut = createWebhookFanOut({ sql, inWords, onStored: () => {}, monotonicMs: () => 0 });
    // Then its pending events are counted, but not for each portion.
    await sql.rows("update webhooks set failing_since = now() where team_id = $1", [team.teamId]);
    const counts: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      await fanOut.workOnce();
      counts.push((await deliveries(webhook)).length);
    }
    assert.deepEqual(counts, [1, 2, 3]);
    assert.equal(sql.sent.filter((name) => name === "count_pending").length, 1);
    await server.services.features.webhooks.service.remove(team, webhook.id);
  });

  it("are limited to 50, and their deliveries are deleted after a week", async () => {
    const webhook = await subscribe();
    await create();
    await deliver();
    await server.database.rows("update webhook_deliveries set created_at = now() - interval '8 days'");
    await removeOldRecords(server.database, server.services.features.webhooks.retention);
    assert.deepEqual(await deliveries(webhook), []);
    for (let count = 1; count < 50; count += 1) await subscribe();
    await assert.rejects(subscribe(), { code: "webhooks_full" });
  });

  it("get a test event on request, whatever they subscribe to, unless they are disabled", async () => {
    const webhook = await subscribe({ events: ["queue.paused"] });
    const { service } = server.services.features.webhooks;
    const sent = await service.test(team, webhook.id);
    assert.deepEqual([sent.event, sent.status, sent.attempts], ["webhook.test", "pending", 0]);
    await deliver();
    const [{ type, timestamp, data }] = bodies();
    assert.deepEqual([type, data], ["webhook.test", { webhook: { id: formatId("wh", webhook.id) } }]);
    assert.ok(Date.parse(timestamp) > 0);
    assert.deepEqual(
      (await deliveries(webhook)).map(({ id, event, status }) => [id, event, status]),
      [[sent.id, "webhook.test", "delivered"]],
    );

    await service.update(team, webhook.id, { enabled: false });
    await assert.rejects(service.test(team, webhook.id), /^Problem: Webhook is turned off: enable it first$/);
    await assert.rejects(service.test(await server.openTeam(), webhook.id), /Webhook not found/);
  });

  it("get a message again as a new delivery with the same webhook-id", async () => {
    const webhook = await subscribe();
    const { service } = server.services.features.webhooks;
    await create();
    await deliver();
    const [first] = await deliveries(webhook);
    assert.ok(first);
    const again = await service.redeliver(team, webhook.id, first.id);
    assert.notEqual(again.id, first.id);
    assert.deepEqual([again.messageId, again.event, again.status], [first.id, "task.created", "pending"]);
    await assert.rejects(service.redeliver(team, webhook.id, again.id), /Delivery is still under way/);
    await deliver();
    const third = await service.redeliver(team, webhook.id, again.id);
    await deliver();

    assert.equal(third.messageId, first.id);
    assert.equal(hooks().length, 3);
    const [one, two, three] = hooks();
    assert.deepEqual([two?.body, three?.body], [one?.body, one?.body]);
    assert.equal(one?.headers["webhook-id"], formatId("whd", first.id));
    assert.deepEqual(
      [two, three].map((call) => call?.headers["webhook-id"]),
      [one?.headers["webhook-id"], one?.headers["webhook-id"]],
    );
    const other = await subscribe({ url: `${server.target.url}/hook-2` });
    for (const [id, delivery] of [
      [webhook.id, other.id],
      [other.id, first.id],
    ] as const)
      await assert.rejects(service.redeliver(team, id, delivery), /Delivery not found/);
  });
});
