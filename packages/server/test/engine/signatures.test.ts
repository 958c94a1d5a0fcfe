import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { pino } from "pino";
import { Webhook } from "standardwebhooks";
import type { Call } from "../../src/domain/call.ts";
import { formatTaskId } from "../../src/domain/task-id.ts";
import { composeApi } from "../../src/server/compose-api.ts";
import { openTestServer, QUEUE, type TestServer } from "../test-server.ts";
import type { ReceivedCall } from "../test-target.ts";

describe("signatures of outgoing calls", () => {
  let server: TestServer;
  before(async () => {
    server = await openTestServer({ maxRetries: 0 });
  });
  after(() => server.close());
  beforeEach(() => {
    server.target.answer = (_call, response) => response.end("{}");
    server.target.calls.length = 0;
  });

  const call = (changes: Partial<Call> = {}): Call => ({
    method: "POST",
    url: server.target.url,
    headers: {},
    body: '{"é":1}',
    ...changes,
  });
  const verifies = (secret: string, { body, headers }: ReceivedCall) => {
    try {
      new Webhook(secret).verify(body, headers as Record<string, string>, { jsonParse: false });
      return true;
    } catch {
      return false;
    }
  };
  const received = () => {
    const last = server.target.calls.at(-1);
    assert.ok(last !== undefined);
    return last;
  };
  const isSigned = ({ headers }: ReceivedCall) =>
    ["webhook-id", "webhook-timestamp", "webhook-signature"].filter((name) => headers[name] !== undefined)
      .length;

  it("are accepted by the Standard Webhooks library", async () => {
    const id = await server.submit({ sign: true, call: call() });
    await server.dispatchOnce();
    const { secret } = await server.signingSecrets.get(server.principal);

    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.equal(verifies(secret, received()), true);
    assert.equal(received().headers["webhook-id"], formatTaskId(id));
    const ageSeconds = Date.now() / 1000 - Number(received().headers["webhook-timestamp"]);
    assert.ok(ageSeconds >= 0 && ageSeconds < 60, `${ageSeconds} s`);
    // And not one that was tampered with, or signed by someone else.
    assert.equal(verifies(secret, { ...received(), body: '{"é":2}' }), false);
    assert.equal(verifies(`whsec_${Buffer.alloc(32, 1).toString("base64")}`, received()), false);
  });

  it("verify for absent, empty and non-ASCII bodies", async () => {
    const { secret } = await server.signingSecrets.get(server.principal);
    for (const body of [null, "", "x", "naïve 🛎", '{"a":"b"}\r\n']) {
      await server.submit({ shape: "direct", sign: true, call: call({ body }) });
      await server.dispatchOnce();
      assert.equal(verifies(secret, received()), true, JSON.stringify(body));
    }
    assert.equal(server.target.calls.length, 5);
  });

  it("verify on every attempt, with the same webhook-id", async () => {
    server.target.answer = (_call, response) =>
      response.writeHead(server.target.calls.length < 3 ? 500 : 200).end();
    const id = await server.submit({ sign: true, call: call(), maxRetries: 3 });
    await server.dispatchOnce();
    for (let round = 0; round < 2; round += 1) {
      await server.advance(60);
      await server.dispatchOnce();
    }

    assert.equal((await server.task(id)).status, "completed");
    const { secret } = await server.signingSecrets.get(server.principal);
    assert.deepEqual(
      server.target.calls.map((each) => [each.headers["webhook-id"], verifies(secret, each)]),
      [
        [formatTaskId(id), true],
        [formatTaskId(id), true],
        [formatTaskId(id), true],
      ],
    );
  });

  it("cover the sent body, with its placeholders replaced", async () => {
    await server.submit({
      sign: true,
      shape: "direct",
      waitForCallback: true,
      call: call({ body: '{"answer":"{callbackUrl}"}' }),
    });
    await server.dispatchOnce();
    const { secret } = await server.signingSecrets.get(server.principal);
    assert.match(received().body, /v1\/callbacks\/[0-9a-f]{64}/);
    assert.equal(verifies(secret, received()), true);
  });

  it("use the team's own secret", async () => {
    const guest = await server.openTeam();
    await server.submit({ sign: true, call: call() }, guest);
    await server.dispatchOnce();
    const theirs = await server.signingSecrets.get(guest);
    const ours = await server.signingSecrets.get(server.principal);
    assert.equal(verifies(theirs.secret, received()), true);
    assert.equal(verifies(ours.secret, received()), false);
  });

  it("use one secret when 20 requests on two nodes create the team's first", async () => {
    const guest = await server.openTeam();
    const other = await server.openNode();
    const views = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? server : other).signingSecrets.get(guest)),
    );
    assert.equal(new Set(views.map(({ secret }) => secret)).size, 1);
  });

  it("yield to headers that the caller set, as do Bellhop's own headers", async () => {
    await server.submit({
      sign: true,
      call: call({ headers: { "Webhook-Id": "mine", "USER-AGENT": "Caller/1", "Bellhop-Attempt": "none" } }),
    });
    await server.dispatchOnce();
    const { headers } = received();
    assert.equal(headers["webhook-id"], "mine");
    assert.equal(headers["user-agent"], "Caller/1");
    assert.equal(headers["bellhop-attempt"], "none");
    assert.match(String(headers["webhook-signature"]), /^v1,/);
  });

  it("verify with both secrets for 24 hours after a rotation, then only with the new one", async () => {
    const old = await server.signingSecrets.get(server.principal);
    const rotated = await server.signingSecrets.rotate(server.principal);
    assert.notEqual(rotated.secret, old.secret);
    const overlapMs = Number(rotated.previousValidUntil) - Date.now();
    assert.ok(Math.abs(overlapMs - 24 * 3_600_000) < 60_000, `${overlapMs} ms`);

    await server.submit({ sign: true, call: call() });
    await server.dispatchOnce();
    assert.equal(verifies(rotated.secret, received()), true);
    assert.equal(verifies(old.secret, received()), true);
    assert.equal(String(received().headers["webhook-signature"]).split(" ").length, 2);

    // Another team, because a node may sign with what it knows for five seconds.
    const late = await server.openTeam();
    const retired = await server.signingSecrets.get(late);
    const replacement = await server.signingSecrets.rotate(late);
    await server.database.rows(
      "update signing_secrets set valid_until = valid_until - interval '24 hours' where valid_until is not null",
    );
    await server.submit({ sign: true, call: call() }, late);
    await server.dispatchOnce();
    assert.equal(verifies(replacement.secret, received()), true);
    assert.equal(verifies(retired.secret, received()), false);
    assert.equal((await server.signingSecrets.get(late)).previousValidUntil, null);
  });

  it("verify with all three secrets after two rotations within a day", async () => {
    const guest = await server.openTeam();
    const secrets = [(await server.signingSecrets.get(guest)).secret];
    for (let round = 0; round < 2; round += 1)
      secrets.push((await server.signingSecrets.rotate(guest)).secret);
    await server.submit({ sign: true, call: call() }, guest);
    await server.dispatchOnce();
    for (const secret of secrets) assert.equal(verifies(secret, received()), true);
  });

  describe("of tasks created through the API", () => {
    let api: Awaited<ReturnType<typeof composeApi>>;
    before(async () => {
      const auth = { ...server.services.auth, authenticate: async () => server.principal };
      api = await composeApi({ ...server.services, auth }, () => null, {
        log: pino({ level: "silent" }),
        version: "test",
        publicUrl: "https://bellhop.test",
        bodyLimitBytes: 10_000,
      });
    });
    after(() => api.close());

    const create = async (body: object) => {
      const answer = await api.inject({
        method: "POST",
        url: "/v1/tasks",
        headers: { authorization: "Bearer any" },
        payload: body,
      });
      assert.equal(answer.statusCode, 201, answer.body);
      await server.dispatchOnce();
    };

    it("are always on the calls of queue tasks", async () => {
      await create({ queue: QUEUE, webhook_url: server.target.url, payload: { n: 1 } });
      const { secret } = await server.signingSecrets.get(server.principal);
      assert.equal(received().body, '{"n":1}');
      assert.equal(verifies(secret, received()), true);
    });

    it("are on the calls of direct tasks only with sign: true", async () => {
      const { secret } = await server.signingSecrets.get(server.principal);
      for (const sign of [undefined, false]) {
        await create({ queue: QUEUE, targetUrl: server.target.url, body: "x", sign });
        assert.equal(isSigned(received()), 0);
      }
      await create({ queue: QUEUE, targetUrl: server.target.url, body: "x", sign: true });
      assert.equal(isSigned(received()), 3);
      assert.equal(verifies(secret, received()), true);
      assert.equal(server.target.calls.length, 3);
    });
  });
});
