import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Client, QstashError, QstashRatelimitError } from "@upstash/qstash";
import { untilEventsAreReadable } from "../../event-log.ts";
import { openScene, type Scene, sha256 } from "./scene.ts";

describe("publishing with the official client", () => {
  let scene: Scene;
  before(async () => {
    scene = await openScene();
  });
  after(() => scene.close());

  const task = async (id: string) => (await scene.api.call("GET", `/v1/tasks/${id}`)).body.task;
  const refused = async (work: Promise<unknown>, status: number, error: RegExp) => {
    await assert.rejects(work, (thrown) => {
      assert.ok(thrown instanceof QstashError);
      assert.equal(thrown.status, status);
      assert.match(thrown.message, error);
      return true;
    });
  };

  it("calls the target with headers, method and body, and a signature that either key verifies", async () => {
    const { client, receiver, target } = scene;
    const url = `${target.url}/hook?a=b%20c&d=//e`;
    const { messageId } = await client.publishJSON({
      url,
      method: "PUT",
      body: { order: 1 },
      headers: { "X-Own": "mine", "User-Agent": "theirs" },
      label: ["one", "two"],
      retries: 1,
    });
    await scene.settle();

    const [call] = scene.callsTo("/hook?a=b%20c&d=//e");
    assert.ok(call !== undefined);
    assert.equal(call.method, "PUT");
    assert.equal(call.bytes.toString(), '{"order":1}');
    assert.equal(call.headers["content-type"], "application/json");
    assert.equal(call.headers["x-own"], "mine");
    assert.equal(call.headers["user-agent"], "theirs");
    assert.equal(call.headers["upstash-message-id"], messageId);
    assert.equal(call.headers["upstash-retried"], "0");
    assert.equal(call.headers["bellhop-task-id"], messageId);
    assert.equal(call.headers.authorization, undefined);
    const signature = String(call.headers["upstash-signature"]);
    assert.ok(await receiver.verify({ signature, body: call.bytes.toString(), url }));
    await assert.rejects(receiver.verify({ signature, body: "{}", url }));

    const record = await task(messageId);
    assert.equal(record.status, "completed");
    assert.deepEqual(record.tags, ["one", "two"]);
    assert.equal(record.queue, "qstash");
  });

  it("forwards a header named __proto__ as any other", async () => {
    const { target } = scene;
    const published = await fetch(`${scene.baseUrl}/v2/publish/${target.url}/names`, {
      method: "POST",
      headers: [
        ["authorization", `Bearer ${scene.api.team.key}`],
        ["upstash-forward-__proto__", "forwarded"],
        ["upstash-callback", `${target.url}/names`],
        ["upstash-callback-forward-__proto__", "to the callback"],
      ],
    });
    assert.equal(published.status, 200);
    await scene.settle();
    await scene.settle();

    const sent = scene
      .callsTo("/names")
      .map(({ rawHeaders }) => rawHeaders.filter((_, at) => rawHeaders[at - 1] === "__proto__"));
    assert.deepEqual(sent, [["forwarded"], ["to the callback"]]);
  });

  it("passes a body of any bytes on unchanged, with the content type that it came with", async () => {
    const bytes = Uint8Array.from({ length: 512 }, (_, index) => index % 256);
    const { messageId } = await scene.client.publish({
      url: `${scene.target.url}/bytes`,
      body: new Blob([bytes]),
      headers: { "Content-Type": "image/png" },
    });
    await scene.settle();

    const [call] = scene.callsTo("/bytes");
    assert.deepEqual(call?.bytes, Buffer.from(bytes));
    assert.equal(call?.headers["content-type"], "image/png");
    const message = await scene.client.messages.get(messageId);
    assert.equal(message.bodyBase64, Buffer.from(bytes).toString("base64"));
  });

  it("waits for the delay, or until the time that wins over it", async () => {
    const { client, target, api } = scene;
    await client.publish({ url: `${target.url}/later`, delay: "2h", body: "x" });
    const notBefore = Math.floor(Date.now() / 1000) + 60;
    await client.publish({ url: `${target.url}/at`, delay: 5, notBefore, body: "x" });
    await scene.settle();
    assert.deepEqual([scene.callsTo("/later").length, scene.callsTo("/at").length], [0, 0]);
    await api.server.advance(61);
    await scene.settle();
    assert.deepEqual([scene.callsTo("/later").length, scene.callsTo("/at").length], [0, 1]);
  });

  it("retries by the expression, and counts the retries in a header", async () => {
    const { client, target, api } = scene;
    target.answer = (_call, response) => response.writeHead(500).end("no");
    const { messageId } = await client.publish({
      url: `${target.url}/again`,
      retries: 2,
      retryDelay: "pow(2, retried) * 60000",
    });
    await scene.settle();
    await api.server.advance(59);
    await scene.settle();
    assert.equal(scene.callsTo("/again").length, 1);
    await api.server.advance(2);
    await scene.settle();
    await api.server.advance(121);
    await scene.settle();
    target.answer = (_call, response) => response.end("ok");

    assert.deepEqual(
      scene.callsTo("/again").map(({ headers }) => headers["upstash-retried"]),
      ["0", "1", "2"],
    );
    const record = await task(messageId);
    assert.equal(record.status, "failed");
    assert.equal(record.attempts.length, 3);
  });

  it("ends at a 489 that says so, and waits for as long as the target asks", async () => {
    const { client, target, api } = scene;
    target.answer = (call, response) =>
      call.path === "/final"
        ? response.writeHead(489, { "Upstash-NonRetryable-Error": "true" }).end()
        : response.writeHead(400, { "X-RateLimit-Reset-Requests": "6m5s" }).end();
    const final = await client.publish({ url: `${target.url}/final`, retryDelay: "1000" });
    await client.publish({ url: `${target.url}/asked`, retryDelay: "1000" });
    await scene.settle();
    await api.server.advance(360);
    await scene.settle();
    assert.equal(scene.callsTo("/asked").length, 1);
    await api.server.advance(6);
    await scene.settle();
    target.answer = (_call, response) => response.end("ok");

    assert.equal(scene.callsTo("/asked").length, 2);
    assert.equal((await task(final.messageId)).failureReason, "not_retryable");
  });

  it("returns the earlier message for a repeated id or content, within ten minutes", async () => {
    const { client, target, api } = scene;
    const send = () => client.publish({ url: `${target.url}/once`, deduplicationId: "order-1", body: "a" });
    const first = await send();
    const second = await send();
    assert.deepEqual(second, { messageId: first.messageId, deduplicated: true });
    const answer = await api.call("POST", `/v2/publish/${target.url}/once`, "a", {
      "upstash-deduplication-id": "order-1",
      "content-type": "text/plain",
    });
    assert.equal(answer.status, 202);
    const same = { url: `${target.url}/same`, contentBasedDeduplication: true, body: "b" };
    const one = await client.publish(same);
    assert.equal((await client.publish(same)).messageId, one.messageId);
    assert.notEqual((await client.publish({ ...same, body: "c" })).messageId, one.messageId);
    await api.server.database.rows("update message_keys set created_at = created_at - interval '11 minutes'");
    assert.notEqual((await send()).messageId, first.messageId);
  });

  it("says why a message with a deduplication id was refused", async () => {
    const { target, api } = scene;
    await api.call("PUT", "/v1/flows/narrow", { concurrency: 1, max_waiting: 1 });
    await api.call("POST", "/v1/flows/narrow/pause");
    // Not by the client, which replaces the text of every 429.
    const send = (id: string) =>
      api.call("POST", `/v2/publish/${target.url}/full`, "x", {
        "upstash-deduplication-id": id,
        "upstash-flow-control-key": "narrow",
        "upstash-flow-control-value": "parallelism=1",
        "content-type": "text/plain",
      });
    await send("first");
    const { status, body } = await send("second");
    assert.equal(status, 429);
    assert.match(body.error, /narrow/);
  });

  it("shows redacted fields only as hashes, under /v1 too, and sends the original", async () => {
    const { client, target } = scene;
    const { messageId } = await client.publish({
      url: `${target.url}/secret`,
      body: "the secret",
      headers: { "X-Hidden": "hidden", "X-Shown": "shown" },
      redact: { body: true, header: ["X-Hidden"] },
    });
    await scene.settle();

    assert.equal(scene.callsTo("/secret")[0]?.bytes.toString(), "the secret");
    const record = await task(messageId);
    assert.equal(record.body, `REDACTED:${sha256("the secret")}`);
    assert.equal(record.headers["x-hidden"], `REDACTED:${sha256("hidden")}`);
    assert.equal(record.headers["x-shown"], "shown");
    const message = await client.messages.get(messageId);
    assert.equal(message.body, `REDACTED:${sha256("the secret")}`);
    assert.deepEqual(message.header?.["X-Shown"], ["shown"]);
  });

  describe("redacted fields of a schedule and of its messages", () => {
    const hash = `REDACTED:${sha256("canary-body")}`;
    const ask = (method: "GET" | "POST" | "PATCH" | "PUT", path: string, body?: object) =>
      scene.api.call(method, `/v1/schedules/hidden${path}`, body);
    const stored = async () => {
      const [row] = await scene.api.server.database.rows<{ request: string }>(
        "select request from schedules where team_id = $1 and name = 'hidden'",
        [scene.api.team.id],
      );
      return JSON.parse(row?.request ?? "null");
    };
    before(() =>
      scene.client.schedules.create({
        destination: `${scene.target.url}/hidden`,
        scheduleId: "hidden",
        cron: "0 0 1 1 *",
        body: "canary-body",
        headers: { "X-Hidden": "canary-header", "X-Shown": "shown" },
        redact: { body: true, header: ["X-Hidden"] },
        callback: `${scene.target.url}/told`,
      }),
    );

    it("are hashes in the answer to a run, and in every answer that shows the task, its schedule or its callback", async () => {
      const { api, target } = scene;
      const run = await ask("POST", "/run");
      assert.equal(run.status, 201);
      assert.deepEqual([run.body.task.body, run.body.task.headers["x-shown"]], [hash, "shown"]);
      await scene.settle();
      await scene.settle();
      assert.equal(scene.callsTo("/hidden")[0]?.bytes.toString(), "canary-body");
      const report = JSON.parse(scene.callsTo("/told")[0]?.bytes.toString() ?? "{}");
      assert.deepEqual(
        [Buffer.from(report.sourceBody, "base64").toString(), report.sourceHeader["X-Hidden"]],
        ["canary-body", ["canary-header"]],
      );

      const { id } = run.body.task;
      const { tasks } = (await api.call("GET", "/v1/tasks?limit=100")).body;
      const callback = tasks.find(({ targetUrl }: { targetUrl: string }) => targetUrl.endsWith("/told"));
      const answers = [run];
      for (const path of [
        ...["/v1/tasks?limit=100", `/v1/tasks/${id}`, `/v1/tasks/${callback.id}`, `/v1/tasks/${id}/explain`],
        ...["/v1/schedules/hidden", "/v1/schedules", "/v1/audit", `/v2/messages/${callback.id}`],
        ...[`/v2/messages/${id}`, "/v2/logs", "/v2/events", "/v2/schedules", "/v2/schedules/hidden"],
      ])
        answers.push(await api.call("GET", path));
      target.answer = (_call, response) =>
        response.writeHead(489, { "upstash-nonretryable-error": "true" }).end();
      const failed = (await ask("POST", "/run")).body.task.id;
      await scene.settle();
      target.answer = (_call, response) => response.end("ok");
      answers.push(await api.call("GET", "/v2/dlq"), await api.call("GET", `/v1/tasks/${failed}`));
      answers.push(await api.call("POST", `/v1/tasks/${failed}/retry`));
      const encoded = Buffer.from("canary-body").toString("base64").slice(0, 12);
      for (const { status, text } of answers) {
        assert.equal(status < 300, true, text);
        assert.doesNotMatch(text, new RegExp(`canary|${encoded}`));
      }
      assert.match(answers[1]?.text ?? "", /REDACTED:/);
    });

    it("are hashes in the events that webhooks get", async () => {
      const { api, target } = scene;
      await api.call("POST", "/v1/webhooks", { url: `${target.url}/hook`, events: ["task.created"] });
      const { id } = (await ask("POST", "/run")).body.task;
      await scene.settle();
      const { database, engine } = api.server;
      await untilEventsAreReadable(database);
      await engine.actors.all.find(({ name }) => name === "webhooks")?.once();

      const deliveries = await database.rows<{ body: string }>(
        "select body from webhook_deliveries where team_id = $1",
        [api.team.id],
      );
      const told = deliveries.filter(({ body }) => body.includes(id));
      assert.equal(told.length, 1);
      assert.doesNotMatch(told[0]?.body ?? "", /canary/);
      assert.match(told[0]?.body ?? "", /"x-hidden":"REDACTED:/);
    });

    it("stay when a schedule is changed with what it was read as, and no hash is stored", async () => {
      const before = await stored();
      const { task, name: _, ...others } = (await ask("GET", "")).body.schedule;
      assert.equal(task.body, hash);
      const { body } = await ask("PATCH", "", { cron: "0 0 2 1 *", task });
      assert.deepEqual([body.schedule.cron, body.schedule.task], ["0 0 2 1 *", task]);
      assert.equal((await scene.client.schedules.get("hidden")).cron, "0 0 2 1 *");
      await ask("PATCH", "", { timezone: "Asia/Tokyo" });
      assert.equal((await scene.client.schedules.get("hidden")).cron, "CRON_TZ=Asia/Tokyo 0 0 2 1 *");
      assert.equal((await ask("PUT", "", { cron: others.cron, task })).status, 200);
      assert.equal((await scene.client.schedules.get("hidden")).cron, others.cron);
      assert.deepEqual(await stored(), before);
    });

    it("are not replaced by a task of /v1", async () => {
      const before = await stored();
      const { task } = (await ask("GET", "")).body.schedule;
      for (const [method, body] of [
        ["PATCH", { task: { ...task, timeout: 5 } }],
        ["PUT", { cron: "* * * * *", task: { queue: "default", webhook_url: "http://a.test/" } }],
      ] as const) {
        const answer = await ask(method, "", body);
        assert.equal(answer.status, 400, answer.text);
        assert.match(answer.body.error, /^task is a message of \/v2/);
      }
      assert.deepEqual(await stored(), before);
    });
  });

  it("refuses a correction that holds the hash of a redacted field", async () => {
    const { client, target, api } = scene;
    target.answer = (_call, response) =>
      response.writeHead(489, { "upstash-nonretryable-error": "true" }).end();
    const { messageId } = await client.publish({
      url: `${target.url}/corrected`,
      body: "canary-body",
      headers: { "X-Hidden": "canary-header", "X-Shown": "shown" },
      redact: { body: true, header: ["X-Hidden"] },
    });
    await scene.settle();
    target.answer = (_call, response) => response.end("ok");
    const { body, headers } = await task(messageId);

    for (const [correction, error] of [
      [{ body }, "body is how a redacted value is shown: give the value, or leave the field out"],
      [
        { headers },
        "headers.x-hidden is how a redacted value is shown: give the value, or leave the field out",
      ],
    ] as const) {
      const answer = await api.call("POST", `/v1/tasks/${messageId}/retry`, correction);
      assert.equal(answer.status, 400, answer.text);
      assert.equal(answer.body.error, error);
    }
    const url = `${target.url}/corrected-url`;
    assert.equal((await api.call("POST", `/v1/tasks/${messageId}/retry`, { targetUrl: url })).status, 200);
    await scene.settle();
    const [call] = scene.callsTo("/corrected-url");
    assert.deepEqual([call?.bytes.toString(), call?.headers["x-hidden"]], ["canary-body", "canary-header"]);
  });

  it("refuses one message of a batch whose headers are no text, and publishes the others", async () => {
    const { api, target } = scene;
    const message = (headers: string) => `{"destination":"${target.url}/listed","headers":${headers}}`;
    const nested = "[".repeat(15_000) + "]".repeat(15_000);
    const wrong = [
      '{"X-A":[{"toString":null}]}',
      '{"X-A":[1]}',
      '{"X-A":{"toString":null}}',
      `{"X-A":${nested}}`,
    ];
    const odd = message("{}").replace("}", '},"body":"a\\u0000\\ud800"');
    const body = `[${[message('{"Upstash-Forward-X-A":["1","2"]}'), ...wrong.map(message), odd].join()}]`;

    const answer = await api.call("POST", "/v2/batch", body);

    assert.equal(answer.status, 200, answer.text);
    const error = 'headers["X-A"] must be a string, or a list of strings';
    assert.deepEqual(answer.body.slice(1, -1), Array(wrong.length).fill({ error }));
    for (const at of [0, -1]) assert.match(answer.body.at(at).messageId, /^[0-9a-f-]{36}$/);
    await scene.settle();
    assert.deepEqual(
      scene
        .callsTo("/listed")
        .map(({ headers }) => headers["x-a"])
        .sort(),
      ["1, 2", undefined],
    );
    // NUL characters are kept; a lone surrogate has no bytes.
    assert.deepEqual(
      scene
        .callsTo("/listed")
        .map(({ bytes }) => bytes.toString())
        .sort(),
      ["", "a\0\ufffd"],
    );
  });

  it("refuses by name what it does not offer, and bad values", async () => {
    const { client, target, api } = scene;
    const url = `${target.url}/never`;
    await refused(client.publish({ url: "api/llm" }), 400, /api.llm is not supported/);
    await refused(client.publish({ url: "ftp://elsewhere" }), 400, /destination must be a URL/);
    await refused(
      client.publish({ url: `${url}?qstash_token=x` }),
      400,
      /qstash_token in the query is not supported/,
    );
    await refused(
      client.publish({ url, headers: { "Upstash-Cron": "* * * * *" } }),
      400,
      /Upstash-Cron is not supported/,
    );
    await refused(
      client.publish({ url, headers: { "Upstash-Callback-Callback": url } }),
      400,
      /Upstash-Callback-Callback/,
    );
    await refused(client.publish({ url, retryDelay: "retried ** 2" }), 400, /Upstash-Retry-Delay has/);
    await refused(client.publish({ url, headers: { Host: "other" } }), 400, /host.+ cannot be set/);
    await refused(client.publish({ url: "http://private.example/x" }), 400, /destination must not point to/);
    const { status, body } = await api.send({ method: "POST", url: `/v2/publish/${url}` });
    assert.deepEqual([status, body.error], [401, "API key required"]);
    assert.equal(scene.callsTo("/never").length, 0);
  });

  it("tells subscribers of messages as of other tasks", async () => {
    const { api, client, target } = scene;
    await api.call("POST", "/v1/webhooks", { url: `${target.url}/events`, events: ["task.created"] });
    const sent: unknown = await client.publish({ url: `${target.url}/told`, body: "x" });
    assert.ok(typeof sent === "object" && sent !== null && "messageId" in sent);
    const rows = await api.server.database.rows<{ entries: string }>(
      "select entries::text as entries from events where team_id = $1",
      [api.team.id],
    );
    assert.ok(rows.some(({ entries }) => entries.includes(String(sent.messageId))));
  });

  it("answers over the limit of requests in the form that the client reads", async () => {
    const { api, baseUrl, target } = scene;
    const team = await api.openTeam();
    await api.server.database.rows("update teams set requests_per_minute = 1 where id = $1", [team.id]);
    const client = new Client({ baseUrl, token: team.key, retry: false });
    const send = () => client.publish({ url: `${target.url}/limited`, body: "x" });
    await send();
    await assert.rejects(send(), (error) => {
      assert.ok(error instanceof QstashRatelimitError);
      assert.deepEqual([error.limit, error.remaining, Number(error.reset) > 0], ["1", "0", true]);
      return true;
    });
  });

  it("signs with the next key after a rotation, which a receiver knows already", async () => {
    const { api, client, target, receiver } = scene;
    const before = await api.call("GET", "/v2/keys");
    const rotated = await api.call("POST", "/v2/keys/rotate");
    assert.equal(rotated.body.current, before.body.next);
    await client.publish({ url: `${target.url}/rotated`, body: "x" });
    await scene.settle();

    const signature = String(scene.callsTo("/rotated")[0]?.headers["upstash-signature"]);
    assert.ok(await receiver.verify({ signature, body: "x" }));
    const stored = await api.server.database.rows<{ secret: string }>(
      "select secret from message_signing_keys where team_id = $1",
      [api.team.id],
    );
    assert.ok(stored.every(({ secret }) => secret.startsWith("sealed:")));
  });
});
