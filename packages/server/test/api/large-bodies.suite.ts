import assert from "node:assert/strict";
import { after, before, describe, it, mock } from "node:test";
import { createTestApi, type TestApi } from "./test-api.ts";

/** Characters of JSON that the event loop parsed at a time, at most, since it was last asked. */
function watchParsing() {
  const { parse } = JSON;
  let longest = 0;
  JSON.parse = (text: string, reviver) => {
    longest = Math.max(longest, text.length);
    return parse(text, reviver);
  };
  return {
    /** While `work` runs. */
    async longest(work: () => Promise<unknown>): Promise<number> {
      longest = 0;
      await work();
      return longest;
    },
    stop() {
      JSON.parse = parse;
    },
  };
}

describe("large request bodies", () => {
  let api: TestApi;
  const parsing = watchParsing();
  before(async () => {
    api = await createTestApi();
  });
  after(() => parsing.stop());

  const fields = (count: number) => Array.from({ length: count }, (_, index) => `"f${index}":0`).join();

  it("have a payload that a thread parses and the target receives byte for byte", async () => {
    const { url, calls } = api.server.target;
    const payload = `{ "n" : 12345678901234567890, ${fields(4_500)} }`;
    const longest = await parsing.longest(async () => {
      const { status } = await api.run(`{"queue":"runs","payload" : ${payload}\n,"webhook_url":"${url}"}`);
      assert.equal(status, 201);
    });
    assert.equal(calls.at(-1)?.body, payload);
    assert.ok(
      payload.length > 40_000 && longest < 1_000,
      `${longest} characters were parsed on the event loop`,
    );

    const direct = `[ ${Array(20_000).fill("1").join(", ")} ]`;
    await api.run(`{"queue":"runs","body":${direct},"targetUrl":"${url}"}`);
    assert.equal(calls.at(-1)?.body, direct);
  });

  it("are parsed in a batch without the payloads of its tasks", async () => {
    const item = `{"queue":"default","webhook_url":"http://a/","payload":{${fields(4_500)}}}`;
    const longest = await parsing.longest(async () => {
      const { status, body } = await api.call(
        "POST",
        "/v1/tasks/batch",
        `{"tasks":[${Array(4).fill(item).join()}]}`,
      );
      assert.equal(status, 200);
      assert.equal(body.created, 4);
    });
    assert.ok(longest < 10_000, `${longest} characters were parsed on the event loop`);
  });

  it("are refused for too many fields outside of payload and body before they are parsed", async () => {
    const wide = `{"tasks":[{"headers":{${fields(60_000)}}}]}`;
    const longest = await parsing.longest(async () => {
      const { status, body } = await api.call("POST", "/v1/tasks/batch", wide);
      assert.deepEqual(
        [status, body.code, body.error],
        [
          400,
          "body_bounds",
          "Request body has more than 50000 fields and list items outside of payload and body",
        ],
      );
    });
    assert.ok(longest < 1_000, `${longest} characters were parsed on the event loop`);
  });

  it("report the first unknown field of each batch item, with one spelling suggestion", async () => {
    const item = Object.fromEntries(Array.from({ length: 98 }, (_, index) => [`priorit${index}`, 1]));
    const { body } = await api.call("POST", "/v1/tasks/batch", { tasks: Array(400).fill(item) });
    const errors = body.results.map(({ error }: { error: string }) => error);
    assert.equal(errors[0], 'Unknown field "priorit0" (did you mean "priority"?)');
    assert.deepEqual(new Set(errors.slice(1)), new Set(['Unknown field "priorit0"']));
  });

  it("count every turn that reads a batch into the team's share of the event loop", async () => {
    let extraMs = 0;
    const { now } = performance;
    // Each look at the clock takes 5 ms: after two items or three, the batch gives way.
    mock.method(performance, "now", () => {
      extraMs += 5;
      return now.call(performance) + extraMs;
    });
    const spent = mock.method(api.services.loop, "spent");
    try {
      const item = { queue: "default", webhook_url: "http://a/" };
      const { body } = await api.call("POST", "/v1/tasks/batch", { tasks: Array(20).fill(item) });
      assert.equal(body.created, 20);
      const metered = spent.mock.calls.reduce((sum, { arguments: [, , ms] }) => sum + ms, 0);
      assert.ok(metered >= 20 * 5, `${metered} ms of 20 items were counted`);
    } finally {
      mock.restoreAll();
    }
  });

  it("are refused when they are not JSON", async () => {
    const { status, body } = await api.call("POST", "/v1/tasks", `{"payload":{${fields(4_500)}}`);
    assert.deepEqual([status, body.code], [400, "body_not_json"]);
  });
});
