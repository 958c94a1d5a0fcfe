import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../test-database.ts";
import { type ReceivedCall, startTestTarget, type TestTarget } from "../test-target.ts";
import { type Json, type ServerProcess, startServer, until } from "./server-process.ts";

/** Found in whatever is left of the credential, and nowhere by chance. */
const CORE = `canary${randomBytes(12).toString("hex")}`;
const CANARY = `Bearer ${CORE}+/"end`;
const REVOKED_CORE = `canary${randomBytes(12).toString("hex")}`;

describe("a credential in the vault of the built server (promise G, LOG_LEVEL=debug)", () => {
  let directory: string;
  let test: TestDatabase;
  let server: ServerProcess;
  let target: TestTarget;
  let stranger: TestTarget;
  let receiver: TestTarget;
  const secure = createServer();
  const secureCalls: { headers: object; url: string | undefined }[] = [];
  /** Every answer of the API but those that create a task: they are the one place for a callback's id. */
  const answers: string[] = [];
  const creations: string[] = [];
  const callbackIds: string[] = [];
  const tasks: Record<string, Json> = {};

  const api = async (method: string, path: string, body?: unknown) => {
    const answer = await server.api(method, path, body);
    answers.push(JSON.stringify(answer.json));
    return answer;
  };
  const create = async (name: string, body: object) => {
    const json = await server.create(body);
    creations.push(JSON.stringify(json));
    const id: string = json.task?.id ?? json.id;
    const callbackId: string | undefined = json.callbackId ?? json.callback_id;
    if (callbackId !== undefined) callbackIds.push(callbackId);
    tasks[name] = id;
    return { id, callbackId };
  };
  const record = async (name: string) => {
    const { json } = await api("GET", `/v1/tasks/${tasks[name]}`);
    return json.task ?? json;
  };
  const reaches = (name: string, statuses: readonly string[]) =>
    until(async () => statuses.includes((await record(name)).status));
  const own = (changes: object = {}) => ({
    urlTemplate: "{startResult.body.status_url}",
    interval: 1,
    statusPath: "status",
    doneValues: ["done"],
    failValues: ["broken"],
    maxDuration: 30,
    ...changes,
  });

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "bellhop-canary-"));
    const files = [join(directory, "key.pem"), join(directory, "cert.pem")] as const;
    const kind = [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-days",
      "2",
    ];
    const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
    execFileSync("openssl", [...kind, ...subject, "-keyout", files[0], "-out", files[1]], {
      stdio: "ignore",
    });
    secure.setSecureContext({ key: readFileSync(files[0]), cert: readFileSync(files[1]) });
    secure.on("request", ({ headers, url }, response) => {
      secureCalls.push({ headers, url });
      // It knows the credential by other means, and repeats it.
      response.end(JSON.stringify({ status: "done", knows: CANARY }));
    });
    await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));

    test = await createTestDatabase();
    [target, stranger, receiver] = await Promise.all([
      startTestTarget(),
      startTestTarget(),
      startTestTarget(),
    ]);
    const { host, port, user, database } = test.connection;
    server = await startServer({
      DATABASE_URL: `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`,
      BELLHOP_VAULT_KEYS: `test:${randomBytes(32).toString("base64")}`,
      LOG_LEVEL: "debug",
      NODE_EXTRA_CA_CERTS: files[1],
    });
  });
  after(async () => {
    if (server?.child.exitCode === null) {
      server.signal("SIGKILL");
      await server.exited;
    }
    await Promise.all([target.close(), stranger.close(), receiver.close()]);
    secure.closeAllConnections();
    await new Promise((resolve) => secure.close(resolve));
    await test.drop();
    await rm(directory, { recursive: true, force: true });
  });

  /** What the target does with the credential it was sent, by path. */
  function misbehave(call: ReceivedCall, response: ServerResponse): void {
    const value = String(call.headers.authorization);
    const spellings = [
      value,
      encodeURIComponent(value),
      Buffer.from(value).toString("base64"),
      Buffer.from(`..${value}`).toString("base64url"),
      Buffer.from(value).toString("hex"),
      JSON.stringify(JSON.stringify(value)),
    ];
    const echo = JSON.stringify({ status: "done", error: value, spellings, request: call });
    const headers = Object.fromEntries(spellings.map((text, index) => [`x-echo-${index}`, text]));
    const { port } = secure.address() as AddressInfo;
    const path = call.path.split("?")[0];
    if (path === "/echo") response.writeHead(200, headers).end(echo);
    else if (path === "/error") response.writeHead(500, headers).end(echo);
    else if (path === "/redirect")
      response.writeHead(307, { location: `${stranger.url}/?k=${encodeURIComponent(value)}` }).end(echo);
    else if (path === "/hang") response.writeHead(200, headers).write(value);
    else if (path === "/reset") response.socket?.destroy();
    else if (path === "/garbage") response.socket?.end(`HTTP/1.1 ${value}\r\n${value}\r\n\r\n`);
    else if (path === "/job") response.end(JSON.stringify({ status_url: `${target.url}/status` }));
    else if (path === "/status") response.writeHead(200, headers).end(echo);
    else if (path === "/steal") response.end(JSON.stringify({ status_url: `${stranger.url}/s` }));
    else if (path === "/steal-https")
      response.end(JSON.stringify({ status_url: `https://127.0.0.1:${port}/s` }));
    else if (path === "/accept") response.writeHead(202, headers).end(echo);
    else response.writeHead(404).end();
  }

  it("reaches the target, which echoes it in many ways", async () => {
    const stored = await api("POST", "/v1/tokens", { name: "canary", value: CANARY });
    const Authorization: string = stored.json.token.id;
    target.answer = misbehave;
    const direct = (path: string, more: object = {}) => ({
      targetUrl: `${target.url}${path}`,
      headers: { Authorization, "X-Plain": "plain" },
      body: "{}",
      maxRetries: 0,
      ...more,
    });
    await create("echo", direct("/echo", { onCompleteUrl: `${receiver.url}/direct` }));
    await create("error", direct("/error", { maxRetries: 1, onCompleteUrl: `${receiver.url}/failed` }));
    await create("redirect", direct("/redirect"));
    await create("hang", direct("/hang", { timeout: 1 }));
    await create("reset", direct("/reset"));
    await create("garbage", direct("/garbage"));
    await create("poll", direct("/job", { pollConfig: own() }));
    await create("fal", direct("/job", { pollConfig: own({ resultUrlTemplate: `${target.url}/echo` }) }));
    await create("steal", direct("/steal", { pollConfig: own() }));
    await create("stealHttps", direct("/steal-https", { pollConfig: own() }));
    await create("queue", {
      queue: "default",
      webhook_url: `${target.url}/echo`,
      headers: { Authorization },
      payload: { n: 1 },
      on_complete_url: `${receiver.url}/queue`,
    });
    for (const name of Object.keys(tasks)) await reaches(name, ["completed", "failed"]);
    await receiver.received(3);

    const status = Object.fromEntries(
      await Promise.all(Object.keys(tasks).map(async (name) => [name, (await record(name)).status])),
    );
    assert.deepEqual(status, {
      echo: "completed",
      error: "failed",
      redirect: "failed",
      hang: "failed",
      reset: "failed",
      garbage: "failed",
      poll: "completed",
      fal: "completed",
      steal: "failed",
      stealHttps: "completed",
      queue: "completed",
    });
    // The test would prove nothing had the credential not been sent.
    assert.ok(target.calls.length >= 14, `${target.calls.length} calls`);
    for (const { headers, path } of target.calls) assert.equal(headers.authorization, CANARY, path);
    assert.match((await record("echo")).result.body, /\*\*\*/);
  });

  it("reaches no other host by a redirect or a status URL", async () => {
    assert.equal(stranger.calls.length, 0);
    const steal = await record("steal");
    assert.equal(steal.failureReason, "poll_failed");
    assert.equal(steal.error, "The URL to poll must be https, or on the origin of the first call");
    // https on another origin is polled, without it.
    assert.ok(secureCalls.length >= 1);
    for (const call of secureCalls) {
      assert.equal(call.url, "/s");
      assert.ok(!("authorization" in call.headers));
      assertClean("the other origin's request", JSON.stringify(call));
    }
    assert.equal(receiver.calls.length, 3);
    for (const { body, headers } of receiver.calls)
      assertClean("notification", body + JSON.stringify(headers));
  });

  it("is absent from answers to refused requests", async () => {
    const refused = [
      ["/v1/tokens", { value: CANARY }],
      ["/v1/tokens", { name: "x".repeat(101), value: CANARY }],
      ["/v1/tokens", { name: "x", value: `${CANARY}\r\nX-Injected: 1` }],
      ["/v1/tokens", { name: "x", value: [CANARY] }],
      ["/v1/tokens", { name: "x", value: CANARY, allowedHosts: ["not a host/"] }],
    ] as const;
    for (const [path, body] of refused) {
      const { status, json } = await api("POST", path, body);
      assert.equal(status, 400, JSON.stringify(json));
    }
    const revoked = await api("POST", "/v1/tokens", { name: "revoked", value: REVOKED_CORE });
    const { id } = revoked.json.token;
    await api("POST", "/v1/queues", { name: "held" });
    await api("POST", "/v1/queues/held/pause");
    await create("revoked", {
      targetUrl: `${target.url}/echo`,
      headers: { Authorization: id },
      queue: "held",
    });
    await api("DELETE", `/v1/tokens/${id}`);
    await api("POST", "/v1/queues/held/resume");
    await reaches("revoked", ["failed"]);
    assert.equal((await record("revoked")).error, `Vault token "${id}" has been revoked`);
    assert.ok(!target.calls.some(({ headers }) => headers.authorization === id));
    assert.ok(!JSON.stringify(target.calls).includes(REVOKED_CORE));
  });

  it("callback ids are sent only to the third party", async () => {
    const Authorization = (await api("GET", "/v1/tokens")).json.tokens[0].id;
    const naming = {
      targetUrl: `${target.url}/accept?hook={callbackUrl}`,
      headers: { Authorization, "X-Callback": "{callbackId}" },
      body: '{"webhook":"{callbackUrl}"}',
    };
    const waiting = await create("waiting", { ...naming, waitForCallback: true });
    await create("stillWaiting", { ...naming, waitForCallback: true });
    // An answer that repeats the id and is kept.
    await create("named", {
      ...naming,
      targetUrl: `${target.url}/error?hook={callbackUrl}`,
      maxRetries: 0,
    });
    for (const name of ["waiting", "stillWaiting"]) await reaches(name, ["waiting"]);
    await reaches("named", ["failed"]);
    const told = target.calls.filter(({ headers }) => headers["x-callback"] === waiting.callbackId);
    assert.equal(told.length, 1);
    assert.equal(told[0]?.body, `{"webhook":"${server.url}/v1/callbacks/${waiting.callbackId}"}`);

    const statuses: number[] = [];
    for (let round = 0; round < 2; round += 1) {
      statuses.push((await api("POST", `/v1/callbacks/${waiting.callbackId}?x=1`, { ok: true })).status);
    }
    statuses.push((await api("POST", `/v1/callbacks/${callbackIds.at(-1)}`, { ok: true })).status);
    assert.deepEqual(statuses, [200, 404, 409]);
    assert.equal((await record("waiting")).status, "completed");
  });

  it("is absent from API answers, logs and the database", async () => {
    for (const path of [
      "/v1/tokens",
      "/v1/tasks?limit=100",
      "/v1/queues",
      "/v1/providers",
      "/v1/signing-secret",
    ])
      assert.equal((await api("GET", path)).status, 200);
    for (const name of Object.keys(tasks)) await record(name);
    const dump = await dumpDatabase(test);
    server.signal("SIGTERM");
    assert.equal(await server.exited, 0);
    const logs = server.stdout + server.stderr;

    // Each place is one where it would have been found.
    assert.match(logs, /"msg":"request"/);
    assert.match(logs, /attempt\.settled/);
    assert.ok(answers.length > 20);
    for (const id of Object.values(tasks)) assert.ok(answers.join("\n").includes(id));
    for (const table of ["vault_tokens", "tasks", "notifications", "signing_secrets"])
      assert.ok((dump.get(table) ?? "").length > 100, table);
    assert.ok((dump.get("tasks") ?? "").includes("***"));

    assertClean("answers", answers.join("\n") + creations.join("\n"));
    assertClean("logs", logs);
    for (const [table, text] of dump) assertClean(table, text);
    assert.ok(callbackIds.length >= 12);
    for (const callbackId of callbackIds) {
      assert.ok(!answers.join("\n").includes(callbackId), "a callback id in an answer");
      assert.ok(!logs.includes(callbackId), "a callback id in the logs");
      for (const [table, text] of dump) assert.ok(!text.includes(callbackId), `a callback id in ${table}`);
    }
  });
});

/** Every row of every table, as text. */
async function dumpDatabase({ database }: TestDatabase): Promise<Map<string, string>> {
  const tables = await database.rows<{ name: string; spelled: string }>(
    `select c.relname as name, quote_ident(n.nspname) || '.' || quote_ident(c.relname) as spelled
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')`,
  );
  const dump = new Map<string, string>();
  for (const { name, spelled } of tables) {
    const [row] = await database.rows<{ text: string | null }>(
      `select string_agg(t::text || row_to_json(t)::text, E'\\n') as text from ${spelled} t`,
    );
    dump.set(name, row?.text ?? "");
  }
  return dump;
}

function assertClean(place: string, text: string): void {
  for (const core of [CORE, REVOKED_CORE]) {
    const hex = Buffer.from(core).toString("hex");
    const needles = [core, hex, hex.toUpperCase(), Buffer.from(hex).toString("hex")];
    for (const shift of [0, 1, 2]) {
      const base64 = Buffer.from(`${"x".repeat(shift)}${core}`).toString("base64");
      needles.push(base64.slice(4, -4), Buffer.from(base64.slice(4, -4)).toString("hex"));
    }
    for (const needle of needles) {
      const at = text.indexOf(needle);
      assert.ok(at < 0, `${place}: …${text.slice(Math.max(0, at - 80), at)}<here>`);
    }
  }
}
