import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createTestApi, type TestApi } from "./test-api.ts";

const URL_RULE = "webhook_url must be a valid http or https URL";
const BASE = { queue: "default", webhook_url: "https://target.example/hook" };

describe("the call and the due time of a new task", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  const create = (fields: object) => api.call("POST", "/v1/tasks", { ...BASE, ...fields });
  const refusal = async (fields: object) => {
    const { status, body } = await create(fields);
    assert.equal(status, 400);
    return body;
  };
  /** The record of a new task with these fields. */
  const recordOf = async (fields: object) => {
    const { status, body } = await create(fields);
    assert.equal(status, 201, JSON.stringify(fields));
    return (await api.call("GET", `/v1/tasks/${body.id}`)).body;
  };

  it("requires an absolute http or https URL without credentials, and keeps it unchanged", async () => {
    for (const webhook_url of [
      "",
      "example.com/hook",
      "/hook",
      "//example.com/",
      "ftp://example.com/",
      "javascript:alert(1)",
      "http://",
      "http:example.com",
      "http://user@example.com/",
      "http://user:secret@example.com/",
      "http://@example.com/",
      "http:///user@example.com/",
      "http://\\user@example.com/",
      "http://exa mple.com/",
      " http://example.com/",
      "http://example.com/\n",
      "http://example.com/\u0000",
      "http://example.com/\ud800",
      "http://example.com:99999/",
      "http://[::1/",
      "http://{callbackId}.example.com/",
      `http://example.com/${"a".repeat(8192)}`,
    ]) {
      assert.deepEqual(await refusal({ webhook_url }), { error: URL_RULE, code: "invalid" }, webhook_url);
    }
    for (const url of [
      "HTTP://Example.com:80/a/../b?q=@x#top",
      "https://example.com/{callbackId}?to={callbackUrl}",
      "https://bücher.example/ü",
      "http://[::1]:8080/",
    ]) {
      assert.equal((await recordOf({ webhook_url: url })).webhook_url, url);
    }
  });

  it("refuses hop-by-hop headers, Host, Content-Length and invalid headers", async () => {
    const cases: [Record<string, string>, string][] = [
      [{ Host: "a" }, 'Header "Host" cannot be set'],
      [{ "content-length": "1" }, 'Header "content-length" cannot be set'],
      [{ "Transfer-Encoding": "chunked" }, 'Header "Transfer-Encoding" cannot be set'],
      [{ Connection: "close" }, 'Header "Connection" cannot be set'],
      [{ "X A": "1" }, 'Header name "X A" is not valid'],
      [{ "": "1" }, 'Header name "" is not valid'],
      [{ "X-A\n": "1" }, 'Header name "X-A\n" is not valid'],
      [{ "X-A": "1\r\nX-B: 2" }, 'Header "X-A" has a value that is not valid in a header'],
      [{ "X-A": "\u0000" }, 'Header "X-A" has a value that is not valid in a header'],
      [{ "X-A": "✓" }, 'Header "X-A" has a value that is not valid in a header'],
      [{ "X-A": "1", "x-a": "2" }, 'Header "x-a" is given twice'],
      [{ "X-A": "a".repeat(16_384) }, "headers must be at most 16384 bytes together"],
    ];
    for (const [headers, error] of cases)
      assert.deepEqual(await refusal({ headers }), { error, code: "invalid" });
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`X-${index}`, ""]));
    assert.deepEqual(await refusal({ headers: many }), {
      error: "headers must be at most 64",
      code: "invalid",
    });
  });

  it("accepts a vault token's id as a header value, and shows the id in the record", async () => {
    const { token } = (await api.call("POST", "/v1/tokens", { name: "T", value: "Bearer secret" })).body;
    const headers = { "X-Plain": "a", Authorization: token.id };

    assert.deepEqual((await recordOf({ headers })).headers, headers);
  });

  it("requires run_at in ISO 8601 with a zone, at most a year ahead, and without delay", async () => {
    const rule = "run_at must be an ISO 8601 time with a zone, such as 2030-01-31T09:00:00Z";
    for (const run_at of [
      "",
      "tomorrow",
      "1",
      "2030-01-31",
      "2030-01-31T09:00:00",
      "2030-02-30T09:00:00Z",
      "2030-01-31T25:00:00Z",
      "2030-01-31T09:00:00+99:99",
      "+012030-01-31T09:00:00Z",
      "2030-01-31T09:00:00Z\u0000",
    ]) {
      assert.deepEqual(await refusal({ run_at }), { error: rule, code: "invalid" }, run_at);
    }
    const inYears = (years: number) => new Date(Date.now() + years * 31_536_000_000).toISOString();
    assert.deepEqual(await refusal({ run_at: inYears(1.01) }), {
      error: "run_at must be at most 1 year ahead",
      code: "invalid",
    });
    assert.deepEqual(await refusal({ run_at: inYears(0.5), delay: 0 }), {
      error: "Use either delay or run_at, not both",
      code: "invalid",
    });

    const runAt = inYears(0.99);
    assert.equal((await recordOf({ run_at: runAt })).run_at, runAt);
  });

  it("treats a run_at in the past as now", async () => {
    for (const run_at of ["2001-09-09T01:46:40Z", "0000-01-01T00:00:00+01:00"]) {
      const record = await recordOf({ run_at });
      assert.equal(record.run_at, record.created_at);
    }
  });
});
