import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import fc from "fast-check";
import { createTestApi, type TestApi } from "./test-api.ts";

describe("the payload", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  async function send(payload: string): Promise<string> {
    const { url, calls } = api.server.target;
    const text = `{"queue":"runs","payload" : ${payload}\n,"webhook_url":"${url}"}`;
    const { status, body } = await api.run(text);
    assert.equal(status, 201);
    assert.equal(calls.at(-1)?.body, payload);
    return body.id;
  }

  it("reaches the target and the record byte for byte", async () => {
    for (const payload of [
      '{ "id" : 12345678901234567890, "price": 1.10 , "e": 1E+2 }',
      '{"b":1,"a":2,"1":3}',
      '{"a":1,"a":2}',
      '{"text":"\\u00e9\\ud83d\\ude00\\/\\u0000","raw":"é😀"}',
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{}}}',
      "{\n\t\n}",
      "[1, 2.0]",
      '"text \\u00e9 {x}"',
      "12345678901234567890",
      "-0.0",
      "false",
      '{"lone":"\\ud800"}',
    ]) {
      const id = await send(payload);

      const { text } = await api.call("GET", `/v1/tasks/${id}`);
      assert.ok(text.includes(`"payload":${payload}`), text);
      JSON.parse(text);
    }
    assert.equal(Reflect.get({}, "polluted"), undefined);
  });

  it("keeps the value of any JSON", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.nat(4), async (value, indent) => {
        fc.pre(value !== null);
        const payload = JSON.stringify(value, null, indent);
        const id = await send(payload);

        const { body } = await api.call("GET", `/v1/tasks/${id}`);
        assert.deepEqual(body.payload, JSON.parse(payload));
      }),
      { numRuns: 200 },
    );
  });

  it("may be nested 30,000 levels deep", async () => {
    const depth = 30_000;
    const id = await send(`{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`);

    const { status, text } = await api.call("GET", `/v1/tasks/${id}`);
    assert.equal(status, 200);
    assert.ok(text.includes("[".repeat(depth)));
  });

  it("is sent as an empty object when it is null", async () => {
    const { calls, url } = api.server.target;
    await api.run(`{"queue":"runs","webhook_url":"${url}","payload":{"a":1},"payload":null}`);

    assert.equal(calls.at(-1)?.body, "{}");
  });

  it("is an empty object in the record when it is left out", async () => {
    const { body } = await api.call("POST", "/v1/tasks", {
      queue: "default",
      webhook_url: "http://a/",
      method: "GET",
    });

    assert.deepEqual((await api.call("GET", `/v1/tasks/${body.id}`)).body.payload, {});
  });
});
