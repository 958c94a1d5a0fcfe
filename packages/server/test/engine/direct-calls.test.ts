import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, before, beforeEach, describe, it } from "node:test";
import type { Call } from "../../src/domain/call.ts";
import type { PollConfig } from "../../src/domain/poll/poll-config.ts";
import { Problem } from "../../src/domain/problem.ts";
import { Secret } from "../../src/domain/secret.ts";
import type { TaskRequest } from "../../src/domain/task-copies.ts";
import { openTestServer, plainRequest, type TestServer } from "../test-server.ts";
import { type ReceivedCall, startTestTarget } from "../test-target.ts";

/** Every escape changes it: quotes, backslash, plus, slash, percent, a space. */
const VALUE = 'sk-canary+"\\/%41 é end';
const SPELLINGS: readonly [string, (value: string) => string][] = [
  ["as it is", (value) => value],
  ["URL-encoded", encodeURIComponent],
  ["form-encoded", (value) => new URLSearchParams({ v: value }).toString().slice(2)],
  ["base64", (value) => Buffer.from(value, "latin1").toString("base64")],
  ["base64 in the middle", (value) => Buffer.from(`a${value}z`, "latin1").toString("base64")],
  ["base64url", (value) => Buffer.from(value, "latin1").toString("base64url")],
  ["JSON-escaped", (value) => JSON.stringify(value)],
  ["JSON in JSON", (value) => JSON.stringify(JSON.stringify(value))],
];

describe("calls with credentials from the vault", () => {
  let server: TestServer;
  before(async () => {
    server = await openTestServer({ maxRetries: 0 });
  });
  after(() => server.close());
  beforeEach(() => {
    server.target.answer = (_call, response) => response.end("{}");
    server.target.calls.length = 0;
  });

  const put = async (value: string, allowedHosts: readonly string[] | null = null) =>
    (await server.vault.put(server.principal, "canary", new Secret(value), allowedHosts)).id;
  const calling = (headers: Record<string, string>, changes: Partial<Call> = {}): Partial<TaskRequest> => ({
    shape: "direct",
    call: { method: "POST", url: server.target.url, headers, body: "{}", ...changes },
  });
  const made = async (request: Partial<TaskRequest>) => {
    const id = await server.submit(request);
    await server.dispatchOnce();
    return server.task(id);
  };
  const refused = (
    request: Partial<TaskRequest>,
    status: number,
    text: string,
    principal = server.principal,
  ) =>
    assert.rejects(server.submit(request, principal), (error: unknown) => {
      assert.ok(error instanceof Problem);
      assert.equal(error.message, text);
      assert.equal(error.status, status);
      return true;
    });
  const onlyCall = (): ReceivedCall => {
    assert.equal(server.target.calls.length, 1);
    return server.target.calls[0] as ReceivedCall;
  };
  const stored = async (id: string) => {
    const [row] = await server.database.rows<{ text: string }>(
      "select row_to_json(t)::text as text from tasks t where id = $1",
      [id],
    );
    return row?.text ?? "";
  };

  it("resolve each header's token, and send ordinary headers unchanged", async () => {
    const one = await put("Bearer one-secret");
    const two = await put("two-secret");
    const task = await made(
      calling({
        Authorization: one,
        "X-API-Key": two,
        "X-Again": two,
        "X-Plain": "plain",
        "X-Like": "a tok_b",
      }),
    );

    assert.equal(task.status, "completed");
    const { headers } = onlyCall();
    assert.equal(headers.authorization, "Bearer one-secret");
    assert.equal(headers["x-api-key"], "two-secret");
    assert.equal(headers["x-again"], "two-secret");
    assert.equal(headers["x-plain"], "plain");
    assert.equal(headers["x-like"], "a tok_b");
    assert.doesNotMatch(JSON.stringify(headers), /tok_[^b]/);
  });

  it("store the token's id in the task's record, never its value", async () => {
    const token = await put("one-secret");
    const task = await made(calling({ Authorization: token }));
    assert.deepEqual(task.call.headers, { Authorization: token });
    assert.doesNotMatch(await stored(task.id), /one-secret/);
  });

  it("resolve tokens for queue tasks as well", async () => {
    const token = await put("queue-secret");
    await made({ ...calling({ "X-API-Key": token }), shape: "queue" });
    assert.equal(onlyCall().headers["x-api-key"], "queue-secret");
  });

  it("carry the credential on every attempt, including a retry", async () => {
    const token = await put("again-secret");
    server.target.answer = (_call, response) =>
      response.writeHead(server.target.calls.length === 1 ? 500 : 200).end();
    const id = await server.submit({ ...calling({ Authorization: token }), maxRetries: 1 });
    await server.dispatchOnce();
    await server.advance(2);
    await server.dispatchOnce();

    assert.equal((await server.task(id)).status, "completed");
    assert.deepEqual(
      server.target.calls.map((call) => call.headers.authorization),
      ["again-secret", "again-secret"],
    );
  });

  it("fail with token_revoked, unsent, when the token was revoked after creation", async () => {
    const token = await put("revoked-secret");
    const id = await server.submit({
      ...calling({ "X-Plain": "plain", Authorization: token }),
      delaySeconds: 60,
      maxRetries: 3,
    });
    assert.ok(await server.vault.revoke(server.principal, token));
    await server.advance(61);
    await server.dispatchOnce();

    const task = await server.task(id);
    assert.equal(task.status, "failed");
    assert.equal(task.failureReason, "token_revoked");
    assert.equal(task.error, `Vault token "${token}" has been revoked`);
    assert.deepEqual(
      task.attempts.map(({ status, phase, responseCode, error }) => ({ status, phase, responseCode, error })),
      [
        {
          status: "blocked",
          phase: "not_sent",
          responseCode: null,
          error: `Vault token "${token}" has been revoked`,
        },
      ],
    );
    assert.equal(server.target.calls.length, 0);
  });

  it("fail with token_revoked, unsent, when the token was revoked before a retry", async () => {
    const token = await put("between-secret");
    server.target.answer = (_call, response) => response.writeHead(500).end();
    const id = await server.submit({ ...calling({ Authorization: token }), maxRetries: 5 });
    await server.dispatchOnce();
    await server.vault.revoke(server.principal, token);
    await server.advance(60);
    await server.dispatchOnce();

    const task = await server.task(id);
    assert.equal(task.failureReason, "token_revoked");
    assert.equal(task.attempts.length, 2);
    assert.equal(server.target.calls.length, 1);
  });

  it("are refused with 400 when a header has the team's token id inside other text", async () => {
    const own = await put("sk-own");
    const revoked = await put("sk-revoked");
    await server.vault.revoke(server.principal, revoked);
    for (const [value, token] of [
      [`Bearer ${own}`, own],
      [`Bearer tok_01k9z3mxe5f8hrk3yv5pzq8c2d ${own}`, own],
      [`key=${own}!`, own],
      [`Bearer ${revoked}`, revoked],
    ] as const) {
      await refused(
        calling({ Plain: "a", Authorization: value }),
        400,
        `Header "Authorization" has vault token "${token}" inside of other text, which would be sent as it is: store ` +
          "the whole value of the header in the vault, and give nothing but the token's id",
      );
    }
    assert.equal(server.target.calls.length, 0);
  });

  it("send a header unchanged that only resembles a token id or contains another team's", async () => {
    const foreign = (await server.vault.put(await server.openTeam(), "x", new Secret("sk"), null)).id;
    const values = ["Bearer tok_", "a tok_01k9z3mxe5f8hrk3yv5pzq8c2d", "Bearer tok_zzz", `Bearer ${foreign}`];
    for (const value of values) {
      await made(calling({ Authorization: value }));
      assert.equal(server.target.calls.at(-1)?.headers.authorization, value);
    }
  });

  it("are refused with 400 when a token is unknown, revoked or another team's", async () => {
    const revoked = await put("revoked-secret");
    await server.vault.revoke(server.principal, revoked);
    const guest = await server.openTeam();
    const foreign = (await server.vault.put(guest, "theirs", new Secret("theirs"), null)).id;
    const own = await put("own-secret");
    const [count] = await server.database.rows<{ n: number }>("select count(*)::integer as n from tasks");

    for (const token of [`tok_${"0".repeat(26)}`, "tok_", "tok_nonsense", revoked, foreign]) {
      const text = `Header "X-Api-KEY" references unknown vault token "${token}"`;
      await refused(calling({ Authorization: own, "X-Api-KEY": token }), 400, text);
      await refused({ ...calling({ "X-Api-KEY": token }), shape: "queue" }, 400, text);
    }
    // And the other way round: what is good for one team is unknown to the other.
    await refused(
      calling({ Authorization: own }),
      400,
      `Header "Authorization" references unknown vault token "${own}"`,
      guest,
    );
    assert.deepEqual(await server.database.rows("select count(*)::integer as n from tasks"), [count]);
    await server.dispatchOnce();
    assert.equal(server.target.calls.length, 0);
  });

  it("are refused at creation when allowedHosts excludes the target", async () => {
    const { host } = new URL(server.target.url);
    const here = await put("here-secret", [host]);
    const elsewhere = await put("elsewhere-secret", ["api.example.com", "127.0.0.1:1"]);
    await refused(
      calling({ Authorization: elsewhere }),
      400,
      `Header "Authorization" references vault token "${elsewhere}", which may not be sent to "${host}"`,
    );
    assert.equal((await made(calling({ Authorization: here }))).status, "completed");
    assert.equal(onlyCall().headers.authorization, "here-secret");
  });

  it("fail as blocked when allowedHosts excludes the target only since creation", async () => {
    const token = await put("narrowed-secret");
    const id = await server.submit({ ...calling({ Authorization: token }), delaySeconds: 60, maxRetries: 3 });
    await server.database.rows(
      "update vault_tokens set allowed_hosts = '{api.example.com}' where name = 'canary'",
    );
    await server.advance(61);
    await server.dispatchOnce();
    await server.database.rows("update vault_tokens set allowed_hosts = null where name = 'canary'");

    const task = await server.task(id);
    assert.equal(task.status, "failed");
    assert.equal(task.failureReason, "blocked");
    assert.equal(task.error, `Vault token "${token}" may not be sent to this host`);
    assert.equal(task.attempts.length, 1);
    assert.equal(server.target.calls.length, 0);
  });

  it("send a direct task's method, headers and body unchanged", async () => {
    const body = '  { "n": 12345678901234567890, "é": "ü\\u0000", }\r\nnot JSON at all \u{1f6ce}';
    await made(
      calling(
        { "X-MiXeD": " inner  spaces ".trim(), "Content-Type": "text/plain; charset=x", Accept: "image/*" },
        { method: "PUT", url: `${server.target.url}/a%2Fb/../c?q=%20+&empty=`, body },
      ),
    );
    const call = onlyCall();
    assert.equal(call.method, "PUT");
    assert.equal(call.path, "/c?q=%20+&empty=");
    assert.equal(call.body, body);
    assert.equal(call.headers["x-mixed"], "inner  spaces");
    assert.equal(call.headers["content-type"], "text/plain; charset=x");
    assert.equal(call.headers.accept, "image/*");
    assert.equal(call.headers["content-length"], String(Buffer.byteLength(body)));
  });

  it("send no body and no content type for a direct task without a body", async () => {
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"] as const) {
      await made(calling({}, { method, body: null }));
      const call = server.target.calls.at(-1);
      assert.equal(call?.method, method);
      assert.equal(call?.body, "");
      assert.equal(call?.headers["content-type"], undefined);
    }
    assert.equal(server.target.calls.length, 5);
  });

  describe("polls", () => {
    const config = (changes: Partial<PollConfig> = {}): PollConfig => ({
      urlTemplate: `${server.target.url}/jobs/1`,
      interval: 5,
      statusPath: "status",
      doneValues: ["done"],
      failValues: ["broken"],
      resultPath: "",
      errorPath: "error",
      forwardAuth: true,
      forwardHeaders: ["xi-api-key"],
      maxDuration: 600,
      ...changes,
    });
    const pollOnce = async () => {
      await server.advance(5.1);
      await server.engine.poller.workOnce();
      await server.engine.poller.finished();
    };

    it("resolve the tokens of forwarded headers, and send no other header", async () => {
      const bearer = await put("Bearer poll-secret");
      const key = await put("xi-secret");
      const other = await put("other-secret");
      const headers = { Authorization: bearer, "Xi-Api-Key": key, "X-Other": other };
      const task = await made({ ...calling(headers), pollConfig: config() });
      server.target.answer = (_call, response) => response.end('{"status":"done"}');
      await pollOnce();

      assert.equal((await server.task(task.id)).status, "completed");
      const poll = server.target.calls.at(-1);
      assert.equal(poll?.method, "GET");
      assert.equal(poll?.headers.authorization, "Bearer poll-secret");
      assert.equal(poll?.headers["xi-api-key"], "xi-secret");
      assert.equal(poll?.headers["x-other"], undefined);
    });

    it("send neither Authorization nor X-API-Key when forwardAuth is false", async () => {
      const token = await put("kept-secret");
      const headers = { Authorization: token, "X-API-Key": token };
      await made({ ...calling(headers), pollConfig: config({ forwardAuth: false }) });
      await pollOnce();
      const poll = server.target.calls.at(-1);
      assert.equal(poll?.path, "/jobs/1");
      assert.equal(poll?.headers.authorization, undefined);
      assert.equal(poll?.headers["x-api-key"], undefined);
      await server.advance(600);
      await server.engine.deadlines.expireOnce();
    });

    it("fail the task with token_revoked, unsent, when the token is revoked", async () => {
      const token = await put("poll-revoked-secret");
      const task = await made({ ...calling({ Authorization: token }), pollConfig: config() });
      assert.equal(task.status, "polling");
      await server.vault.revoke(server.principal, token);
      await pollOnce();

      const ended = await server.task(task.id);
      assert.equal(ended.status, "failed");
      assert.equal(ended.failureReason, "token_revoked");
      assert.equal(ended.error, `Vault token "${token}" has been revoked`);
      assert.equal(server.target.calls.length, 1);
    });

    it("refuse a status URL on another origin, and send nothing there (promise G)", async () => {
      const thief = await startTestTarget();
      try {
        const token = await put("stolen-secret");
        server.target.answer = (_call, response) =>
          response.end(JSON.stringify({ status_url: `${thief.url}/status` }));
        const pollConfig = config({ urlTemplate: "{startResult.body.status_url}" });
        const task = await made({ ...calling({ Authorization: token }), pollConfig });
        await pollOnce();

        assert.equal(task.status, "failed");
        assert.equal(task.failureReason, "poll_failed");
        assert.equal(thief.calls.length, 0);
        assert.equal(server.target.calls.length, 1);
      } finally {
        await thief.close();
      }
    });

    for (const status of ["done", "broken"] as const) {
      it(`redact a credential that the answer echoes when the job is ${status} (promise G)`, async () => {
        const token = await put(VALUE);
        const task = await made({ ...calling({ Authorization: token }), pollConfig: config() });
        server.target.answer = (call, response) => echo(call, response, 200, { status });
        await pollOnce();

        const ended = await server.task(task.id);
        assert.equal(ended.status, status === "done" ? "completed" : "failed");
        assertEchoed(ended.result?.body);
        assertClean(`${await stored(task.id)}${JSON.stringify(ended)}`);
      });
    }

    it("redact an echoed credential that was sent only in the first call (promise G)", async () => {
      const token = await put(VALUE);
      const task = await made({ ...calling({ "X-Not-Forwarded": token }), pollConfig: config() });
      const received = String(server.target.calls[0]?.headers["x-not-forwarded"]);
      server.target.answer = (_call, response) =>
        response.end(JSON.stringify({ status: "done", request: { key: received } }));
      await pollOnce();

      const ended = await server.task(task.id);
      assert.equal(ended.status, "completed");
      assertClean(`${await stored(task.id)}${JSON.stringify(ended)}`);
    });

    it("redact a callback id that the answer echoes", async () => {
      const created = await server.tasks.create(server.principal, {
        ...plainRequest(server.target.url),
        ...calling({}, { body: '{"webhook":"{callbackUrl}"}' }),
        pollConfig: config(),
      });
      await server.dispatchOnce();
      // As Replicate does: the prediction names its webhook.
      server.target.answer = (_call, response) =>
        response.end(JSON.stringify({ status: "done", ...JSON.parse(server.target.calls[0]?.body ?? "{}") }));
      await pollOnce();

      const ended = await server.task(created.id);
      assert.equal(ended.status, "completed");
      assert.match(ended.result?.body ?? "", /webhook/);
      assert.ok(!(await stored(created.id)).includes(created.callback?.id ?? "?"));
    });

    it("redact the part of a callback id at which the error of a failed job is cut", async () => {
      const created = await server.tasks.create(server.principal, {
        ...plainRequest(server.target.url),
        ...calling({}, { body: '{"webhook":"{callbackUrl}"}' }),
        pollConfig: { ...config(), failValues: ["broken"], errorPath: "error" },
      });
      await server.dispatchOnce();
      const id = created.callback?.id ?? "?";
      server.target.answer = (_call, response) =>
        response.end(JSON.stringify({ status: "broken", error: "x".repeat(4096 - 20) + id }));
      await pollOnce();

      const ended = await server.task(created.id);
      assert.equal(ended.status, "failed");
      assert.match(ended.error ?? "", /xxx\*\*\*…$/);
      assert.ok(!(await stored(created.id)).includes(id.slice(0, 8)));
    });
  });

  for (const status of [200, 500]) {
    it(`redact a credential echoed in body and headers of a ${status} answer (promise G)`, async () => {
      const token = await put(VALUE);
      server.target.answer = (call, response) => echo(call, response, status, {});
      const task = await made(calling({ Authorization: token }));

      assert.equal(onlyCall().headers.authorization, VALUE);
      assert.equal(task.status, status === 200 ? "completed" : "failed");
      assertEchoed(task.result?.body);
      for (const index of SPELLINGS.keys())
        assert.match(task.result?.headers[`x-echo-${index}`] ?? "", /\*\*\*/);
      assertClean(`${await stored(task.id)}${JSON.stringify(task)}`);
      assertClean(JSON.stringify(server.log));
    });
  }

  it("redact the credential of a Bearer value where it is echoed alone (promise G)", async () => {
    const token = await put("Bearer sk-alone-0123456789");
    server.target.answer = (_call, response) =>
      response.writeHead(401).end("Invalid key sk-alone-0123456789.");
    const task = await made(calling({ Authorization: token }));
    assert.equal(task.result?.body, "Invalid key ***.");
  });

  it("store nothing of a credential echoed in a cut or malformed answer (promise G)", async () => {
    const token = await put(VALUE);
    server.target.answer = (call, response) => {
      response.socket?.end(
        `HTTP/1.1 2OO ${call.headers.authorization}\r\n${call.headers.authorization}\r\n\r\n`,
      );
    };
    const garbage = await made(calling({ Authorization: token }));
    server.target.answer = (call, response) => {
      response.writeHead(200, { "content-length": "100000" });
      response.write(String(call.headers.authorization), () => response.socket?.destroy());
    };
    const broken = await made(calling({ Authorization: token }));

    for (const task of [garbage, broken]) {
      assert.equal(task.status, "failed");
      assertClean(`${await stored(task.id)}${JSON.stringify(task)}`);
    }
    assertClean(JSON.stringify(server.log));
  });

  /** Everything that was sent, in every spelling, in the body and in headers. */
  function echo(call: ReceivedCall, response: ServerResponse, status: number, more: object): void {
    const value = String(call.headers.authorization);
    const texts = SPELLINGS.map(([, spell]) => spell(value));
    const headers = Object.fromEntries(texts.map((text, index) => [`x-echo-${index}`, text]));
    response.writeHead(status, headers);
    response.end(JSON.stringify({ ...more, error: texts.join(" | "), texts, request: call.headers }));
  }

  /** The echo did come back: otherwise there would have been nothing to wipe. */
  function assertEchoed(body: string | undefined): void {
    const { texts } = JSON.parse(body ?? "{}");
    assert.equal(texts.length, SPELLINGS.length);
    for (const text of texts) assert.match(text, /\*\*\*/);
  }
});

/** No spelling of the value, nor any that reads like one once the text's own escapes are undone. */
function assertClean(text: string): void {
  const readings = [text, text.replaceAll("\\\\", "\\"), text.replaceAll("\\", "")];
  for (const [name, spell] of SPELLINGS) {
    // The ends of a spelling may be wiped alone; its middle is what tells.
    const middle = spell(VALUE).replaceAll("=", "").slice(2, -3);
    for (const reading of readings) {
      assert.ok(!reading.includes(middle), `${name}: ${middle}`);
      assert.ok(!reading.includes(middle.replaceAll("\\", "")), name);
    }
  }
  assert.ok(!text.includes("sk-canary"), "the beginning of it");
}
