import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { Webhook } from "standardwebhooks";
import type { DeliverMail } from "../../src/domain/identity/mail.ts";
import type { Requester } from "../../src/domain/identity/principal.ts";
import type { Alert, AlertTerms } from "../../src/features/alerts/domain.ts";
import { createMailer, type Mailer } from "../../src/outbound/mailer.ts";
import { newUuid } from "../../src/service/new-uuid.ts";
import { deleteMember, ensureMember } from "../../src/store/identity/members.ts";
import { startTestMailbox, type TestMailbox } from "../test-mailbox.ts";
import { openTestServer, QUEUE, type TestNode, type TestServer } from "../test-server.ts";

const SLACK = "/services/T1/B2/secret";

describe("alerts", () => {
  let server: TestServer;
  let other: TestNode;
  let mailbox: TestMailbox;
  let mailer: Mailer;
  let team: Requester;
  let status = 204;

  before(async () => {
    mailbox = await startTestMailbox();
    const log = { info() {}, warn() {}, error() {} };
    const smtpUrl = `smtp://127.0.0.1:${mailbox.port}`;
    mailer = await createMailer({ smtpUrl, mayLog: false, from: "Bellhop <bellhop@example.com>", log });
    const deliverMail: DeliverMail = (mail, id) => mailer.deliver?.(mail, id) ?? assert.fail();
    server = await openTestServer({}, { deliverMail });
    other = await server.openNode();
  });
  after(async () => {
    await server.close();
    await mailer.stop();
    await mailbox.close();
  });
  beforeEach(async () => {
    for (const table of ["alerts", "alert_channels", "alert_messages"])
      await server.database.rows(`delete from ${table}`);
    await server.database.rows(
      "update alert_rounds set holder = null, held_until = now() - interval '1 second'",
    );
    team = await server.openTeam();
    server.target.calls.length = 0;
    mailbox.mails.length = 0;
    status = 204;
    server.target.answer = (_, response) => void response.writeHead(status).end();
  });

  const create = (terms: Partial<AlertTerms> = {}): Promise<Alert> =>
    server.services.features.alerts.service.create(team, {
      name: "Backlog",
      when: { kind: "depth", queue: QUEUE, threshold: 2, within: null, for: 0 },
      notify: [{ kind: "url", target: `${server.target.url}/hook` }],
      enabled: true,
      ...terms,
    });
  const read = ({ id }: Alert) => server.services.features.alerts.service.get(team, id);
  const pause = () => server.queues.setPaused(team, QUEUE, true);
  const submit = (count: number, fields: object = {}) =>
    Promise.all(Array.from({ length: count }, () => server.submit(fields, team)));
  /** What the nodes do within a minute. */
  const evaluate = async (nodes: readonly TestNode[] = [server, other]) => {
    await server.database.rows("update alert_rounds set next_at = now() - interval '1 second'");
    await Promise.all(nodes.map(({ services }) => services.features.alerts.evaluator.evaluateOnce()));
    const failed = server.log.filter(({ message }) => message === "alerts.not_evaluated");
    assert.deepEqual(failed, []);
  };
  const deliver = async (nodes: readonly TestNode[] = [server, other]) => {
    for (const { services } of nodes) {
      const { courier } = services.features.alerts;
      while ((await courier.workOnce()) === 0) await courier.finished();
    }
  };
  /** Lets time pass for alerts, as far as the database can tell. */
  const pass = (seconds: number) =>
    server.database.rows(
      `with m as (update alert_messages set next_at = next_at - make_interval(secs => $1)),
            c as (update alert_channels set last_sent_at = last_sent_at - make_interval(secs => $1))
       update alerts set held_since = held_since - make_interval(secs => $1), told_at = told_at - make_interval(secs => $1),
                         last_fired_at = last_fired_at - make_interval(secs => $1)`,
      [seconds],
    );
  const hooks = () => server.target.calls.filter(({ path }) => path === "/hook");
  const types = () => hooks().map(({ body }) => JSON.parse(body).type);

  it("fire, remind and are resolved once each over two nodes, signed and under one id per message", async () => {
    await pause();
    const alert = await create({
      notify: [
        { kind: "url", target: `${server.target.url}/hook` },
        { kind: "slack_url", target: `${server.target.url}${SLACK}` },
      ],
    });
    const tasks = await submit(3);
    await submit(2, { delaySeconds: 3600 });
    await server.submit({}, { ...team, environment: "test" });
    await evaluate();
    await evaluate();
    await deliver();
    await pass(4 * 3600);
    await evaluate();
    await deliver();
    assert.deepEqual([(await read(alert)).state, (await read(alert)).value], ["firing", 3]);
    for (const id of tasks) await server.tasks.cancel(team, id);
    await evaluate();
    await deliver();
    await deliver();

    assert.deepEqual(types(), ["alert.firing", "alert.reminder", "alert.resolved"]);
    const [first] = hooks();
    const { key } = await secretOf();
    const signed = Object.fromEntries(
      Object.entries(first?.headers ?? {}).map(([name, value]) => [name, String(value)]),
    );
    const body = new Webhook(key).verify(first?.body ?? "", signed);
    assert.deepEqual(Object.keys(Object(body)), ["type", "alert", "value", "since"]);
    const ids = hooks().map(({ headers }) => headers["webhook-id"]);
    assert.equal(new Set(ids).size, 3);
    assert.match(String(ids[0]), /^alm_[0-9a-z]{26}$/);
    const slack = server.target.calls.filter(({ path }) => path === SLACK);
    assert.match(JSON.parse(slack[0]?.body ?? "").text, /^\*Firing: Backlog\*\nAt least 2 tasks/);
    assert.equal(slack[0]?.headers["webhook-signature"], undefined);
    const resolved = await read(alert);
    assert.deepEqual([resolved.state, resolved.value, resolved.heldSince], ["ok", 0, null]);
    assert.equal((await server.database.rows("select 1 from alert_messages")).length, 0);
    const stored = JSON.stringify(
      await server.database.rows("select target, sealed::text from alert_channels"),
    );
    assert.ok(!stored.includes("secret"));
  });

  const secretOf = async () => {
    const [key = ""] = await server.signingSecrets.secretsFor(team.teamId);
    return { key };
  };

  it("are evaluated by one node until its lease ends, and then by another", async () => {
    await evaluate([server]);
    const round = async () =>
      (await server.database.rows<{ round: string }>("select round from alert_rounds"))[0]?.round;
    const before = Number(await round());
    await evaluate([other]);
    assert.equal(Number(await round()), before);
    await server.database.rows("update alert_rounds set held_until = now() - interval '1 second'");
    await pause();
    const alert = await create();
    await submit(2);
    await evaluate([other]);
    assert.deepEqual([Number(await round()), (await read(alert)).state], [before + 1, "firing"]);
  });

  it("are not changed by a node that was frozen past its lease", async () => {
    await pause();
    const alert = await create();
    await submit(2);
    const { chores } = server.databases;
    chores.before = async (name) => {
      if (name !== "share_alert_round") return;
      chores.before = () => {};
      await server.database.rows("update alert_rounds set holder = gen_random_uuid(), round = round + 1");
    };
    await evaluate([server]);
    assert.deepEqual(
      [(await read(alert)).state, await server.database.rows("select 1 from alert_messages")],
      ["ok", []],
    );
  });

  it("retry a failing channel under the same id, show its error, and keep the order of its messages", async () => {
    await pause();
    const alert = await create();
    const tasks = await submit(2);
    status = 500;
    await evaluate();
    await deliver();
    assert.match((await read(alert)).notify[0]?.lastError ?? "", /answered 500/);
    for (const id of tasks) await server.tasks.cancel(team, id);
    await evaluate();
    await deliver();
    assert.deepEqual(types(), ["alert.firing"]);
    status = 204;
    await pass(5);
    await deliver();
    assert.deepEqual(types(), ["alert.firing", "alert.firing", "alert.resolved"]);
    const ids = hooks().map(({ headers }) => headers["webhook-id"]);
    assert.equal(ids[0], ids[1]);
    const [channel] = (await read(alert)).notify;
    assert.deepEqual([channel?.lastError, channel?.lastSentAt !== null], [null, true]);
  });

  it("deliver again what a dead node had claimed", async () => {
    const alert = await create();
    await server.services.features.alerts.service.test(team, alert.id);
    server.target.answer = (_, response) => void response.destroy();
    await server.database.rows(
      "update alert_messages set attempts = 1, fence = 1, next_at = now() + interval '120 s'",
    );
    server.target.answer = (_, response) => void response.writeHead(204).end();
    await deliver();
    assert.deepEqual(types(), []);
    await pass(120);
    await deliver();
    assert.deepEqual(types(), ["alert.test"]);
  });

  it("send mail to members only, and no more to one who has left", async () => {
    const email = `ada@team-${team.teamId}.example`;
    const userId = await ensureMember(server.database, team.teamId, newUuid(), email, "viewer");
    const alert = await create({
      name: "Mails\r\nBcc: x@example.com",
      notify: [{ kind: "email", target: email }],
    });
    const test = () => server.services.features.alerts.service.test(team, alert.id);
    await test();
    await deliver();
    const [mail] = await mailbox.received(1);
    assert.deepEqual(mail?.to, [email]);
    assert.equal(mail?.content.subject, "[Bellhop] Test: Mails Bcc: x@example.com");
    assert.match(mail?.content.text ?? "", /At least 2 tasks of the queue errands are due and pending/);
    assert.match(mail?.content.messageId ?? "", /^<alm_[0-9a-z]{26}@bellhop>$/);
    assert.equal((await read(alert)).state, "ok");

    await assert.rejects(test(), /Rate limit exceeded/);
    await pass(5);
    mailbox.refusals.push(451);
    await test();
    await deliver();
    assert.match((await read(alert)).notify[0]?.lastError ?? "", /451/);
    await pass(5);
    await deliver();
    assert.equal(mailbox.mails.length, 2);

    await pass(5);
    await deleteMember(server.database, team.teamId, userId);
    await test();
    await deliver();
    assert.equal(mailbox.mails.length, 2);
    assert.match((await read(alert)).notify[0]?.lastError ?? "", /does not belong to a member/);
    await assert.rejects(
      create({ notify: [{ kind: "email", target: email }] }),
      /must be the address of a member/,
    );
  });

  it("start again at ok when they are disabled or their condition changes, and keep firing otherwise", async () => {
    await pause();
    const { service } = server.services.features.alerts;
    const alert = await create();
    await submit(2);
    const states: string[] = [];
    const change = async (changes: Partial<AlertTerms>) => {
      await evaluate();
      await service.update(team, alert.id, changes);
      states.push((await read(alert)).state);
    };
    await change({ name: "Another name" });
    await change({ when: { ...alert.when, threshold: 1 } });
    await change({ enabled: false });
    await evaluate();
    states.push((await read(alert)).state);
    assert.deepEqual(states, ["firing", "ok", "ok", "ok"]);
  });

  it("measure each kind of figure from counts, and no sandbox task", async () => {
    const figureOf = async (when: Partial<Alert["when"]>) => {
      const alert = await create({
        when: { kind: "depth", queue: null, threshold: 1, within: null, for: 0, ...when },
      });
      await evaluate();
      return (await read(alert)).value;
    };
    assert.equal(await figureOf({ kind: "oldest_pending", queue: QUEUE }), 0);
    assert.equal(await figureOf({ kind: "failure_rate", within: 300 }), null);
    assert.equal(await figureOf({ kind: "webhook_disabled", threshold: null }), 0);
    assert.equal(await figureOf({ kind: "schedule_failing", threshold: 3 }), null);

    await pause();
    await submit(1);
    await server.advance(90);
    const oldest = await figureOf({ kind: "oldest_pending" });
    assert.ok(oldest !== null && oldest >= 90 && oldest < 120, String(oldest));

    const flow = { key: "customer", concurrency: 1, rate: null, period: null, ordered: null };
    await submit(2, { flow });
    await submit(1, { flow, delaySeconds: 3600 });
    assert.equal(await figureOf({ kind: "depth" }), 3);
    await server.advance(120);
    const oldestOfAll = await figureOf({ kind: "oldest_pending" });
    assert.ok(oldestOfAll !== null && oldestOfAll >= 210, String(oldestOfAll));
    await server.database.rows("delete from tasks where team_id = $1 and flow is null", [team.teamId]);
    const oldestOfFlow = await figureOf({ kind: "oldest_pending" });
    assert.ok(oldestOfFlow !== null && oldestOfFlow >= 120 && oldestOfFlow < 150, String(oldestOfFlow));

    const [queue] = await server.database.rows<{ id: string }>("select id from queues where team_id = $1", [
      team.teamId,
    ]);
    const count = (sandbox: boolean, completed: number, failed: number) =>
      server.database.rows(
        `insert into queue_stats (team_id, queue_id, sandbox, seconds, at, node, completed, failed, created, cancelled, retried)
         values ($1, $2, $3, 60, date_trunc('minute', now()), 7, $4, $5, 0, 0, 0)`,
        [team.teamId, queue?.id, sandbox, completed, failed],
      );
    await count(false, 15, 5);
    await count(true, 0, 500);
    assert.equal(await figureOf({ kind: "failure_rate", queue: QUEUE, within: 60 }), 25);

    await server.database.rows(
      `insert into webhooks (team_id, id, url, events, enabled, disabled_at)
       values ($1, gen_random_uuid(), 'https://example.com', '{}', false, now())`,
      [team.teamId],
    );
    assert.equal(await figureOf({ kind: "webhook_disabled", threshold: null }), 1);
    const storage = await figureOf({ kind: "storage", threshold: 80 });
    assert.ok(storage !== null && storage > 0 && storage < 1, String(storage));
  });

  it("count the failed firings of a schedule in a row", async () => {
    const alert = await create({
      when: { kind: "schedule_failing", queue: null, threshold: 3, within: null, for: 0 },
    });
    const scheduleId = newUuid();
    await server.database.rows(
      `insert into schedules (team_id, id, sandbox, name, cron, timezone, overlap, catch_up, task, request, next_run_at)
       values ($1, $2, false, 'nightly', '0 0 * * *', 'UTC', 'allow', 'one', '{}', '{}', now() + interval '1 day')`,
      [team.teamId, scheduleId],
    );
    const fire = async (ended: string | null) => {
      const id = await server.submit({ delaySeconds: 3600 }, team);
      if (ended !== null)
        await server.database.rows(
          `update tasks set status = $3, list_key = case when $3 = 'completed' then 'begun' else $3 end, completed_at = now(), due_at = null where team_id = $1 and id = $2`,
          [team.teamId, id, ended],
        );
      await server.database.rows(
        "insert into schedule_firings (team_id, schedule_id, task_id) values ($1, $2, $3)",
        [team.teamId, scheduleId, id],
      );
    };
    const value = async () => {
      await evaluate();
      const { value: figure, state } = await read(alert);
      return [figure, state];
    };
    await fire("failed");
    await fire("completed");
    await fire("failed");
    await fire("failed");
    await fire(null);
    assert.deepEqual(await value(), [2, "ok"]);
    await server.database.rows("update schedules set errors_in_row = 1");
    assert.deepEqual(await value(), [3, "firing"]);
    await server.database.rows("update schedules set errors_in_row = 0");
    await fire("completed");
    assert.deepEqual(await value(), [0, "ok"]);
  });
});
