import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createTestApi, type TestApi } from "./test-api.ts";

const TASK = { queue: "default", webhook_url: "http://127.0.0.1:9/", delay: 3600 };

describe("flows", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  const flowOf = async (key: string) => (await api.call("GET", `/v1/flows/${key}`)).body.flow;

  it("are stored by PUT, win over what tasks carry figure by figure, and are removed by DELETE", async () => {
    await api.call("POST", "/v1/tasks", {
      ...TASK,
      flow: { key: "c-1", concurrency: 2, rate: 9, period: 60 },
    });
    const stored = await api.call("PUT", "/v1/flows/c-1", { concurrency: 7, max_waiting: null });
    assert.deepEqual(
      [stored.status, (await api.call("PUT", "/v1/flows/c-1", { concurrency: 8 })).status],
      [201, 200],
    );
    assert.deepEqual(await flowOf("c-1"), {
      key: "c-1",
      concurrency: 8,
      rate: 9,
      period: 60,
      pause_on_retry_after: false,
      hold: "call",
      max_waiting: null,
      ordered: false,
      on_failure: "continue",
      source: { concurrency: "stored", rate: "task", ordered: null },
      paused: false,
      paused_until: null,
      active: 0,
      waiting: 0,
      begun_in_period: 0,
    });

    const removed = await api.call("DELETE", "/v1/flows/c-1");

    assert.deepEqual(removed.body, { key: "c-1", deleted: true });
    assert.equal((await flowOf("c-1")).concurrency, 2);
    assert.equal((await api.call("DELETE", "/v1/flows/c-1")).status, 404);
  });

  it("are ordered by PUT or by their tasks, and refuse what contradicts that, naming the field", async () => {
    const refusal = async (method: "PUT" | "POST", path: string, body: object) => {
      const { status, body: said } = await api.call(method, path, body);
      return [
        status,
        said.details?.[0]?.field ?? said.error?.details?.[0]?.field,
        JSON.stringify(said),
      ] as const;
    };
    await api.call("POST", "/v1/tasks", { ...TASK, flow: { key: "o-1", ordered: true } });
    const { ordered, concurrency, source } = await flowOf("o-1");
    assert.deepEqual(
      [ordered, concurrency, source],
      [true, 1, { concurrency: "task", rate: null, ordered: "task" }],
    );
    assert.equal((await api.call("PUT", "/v1/flows/o-1", { ordered: false })).body.flow.ordered, false);
    const stored = await api.call("PUT", "/v1/flows/o-1", { ordered: true, on_failure: "block", rate: 5 });
    assert.deepEqual([stored.status, stored.body.flow.on_failure], [200, "block"]);
    await api.call("DELETE", "/v1/flows/o-1");
    assert.deepEqual([(await flowOf("o-1")).ordered, (await flowOf("o-1")).on_failure], [true, "continue"]);

    for (const [body, field] of [
      [{ ordered: true, concurrency: 2 }, "concurrency"],
      [{ on_failure: "block" }, "on_failure"],
      [{ ordered: false, on_failure: "block" }, "on_failure"],
      [{ ordered: "yes" }, "ordered"],
      [{ ordered: true, on_failure: "stop" }, "on_failure"],
    ] as const) {
      const [status, , text] = await refusal("PUT", "/v1/flows/o-1", body);
      assert.equal(status, 400);
      assert.ok(text.includes(field), text);
    }
    for (const flow of [
      { key: "o-2", ordered: true, concurrency: 3 },
      { key: "o-2", ordered: 1 },
      { key: "o-2", on_failure: "block" },
    ]) {
      const [status, , text] = await refusal("POST", "/v1/tasks", { ...TASK, flow });
      assert.equal(status, 400);
      assert.match(text, /concurrency|ordered|on_failure/);
    }
  });

  it("are paused before any task has them, listed and found by a part of the key, and unknown otherwise", async () => {
    assert.equal((await api.call("POST", "/v1/flows/Early.1/pause")).body.flow.paused, true);
    const { body } = await api.call("GET", "/v1/flows?search=early");
    assert.deepEqual(
      body.flows.map(({ key }: { key: string }) => key),
      ["Early.1"],
    );
    assert.equal((await api.call("POST", "/v1/flows/Early.1/resume")).body.flow.paused, false);
    assert.equal((await api.call("GET", "/v1/flows/nobody")).status, 404);
    assert.equal((await api.call("POST", "/v1/flows/nobody/reset")).status, 404);
    assert.equal((await api.call("GET", "/v1/flows/a%2Fb")).status, 404);
  });

  it("resolve $host and $token in both dialects, and show the stored key", async () => {
    const token = (await api.call("POST", "/v1/tokens", { name: "T", value: "Bearer x" })).body.token.id;
    const queued = await api.call("POST", "/v1/tasks", {
      ...TASK,
      webhook_url: "http://EXAMPLE.com.:99/x",
      flow: "$host",
    });
    const direct = await api.call("POST", "/v1/tasks", {
      targetUrl: "http://127.0.0.1:9/",
      delay: 3600,
      headers: { "X-Other": token, Authorization: token },
      flow: { key: "$token", concurrency: 1 },
    });
    assert.equal((await api.call("GET", `/v1/tasks/${queued.body.id}`)).body.flow, "host:example.com");
    assert.equal(
      (await api.call("GET", `/v1/tasks/${direct.body.task.id}`)).body.task.flow,
      `token:${token}`,
    );
    assert.equal((await flowOf(`token:${token}`)).pause_on_retry_after, true);
  });

  for (const [title, flow, field] of [
    ["a key with a slash", "a/b", "flow"],
    ["an unknown $ word", "$queue", "flow"],
    ["$token without a token", "$token", "flow"],
    ["a period without a rate", { key: "a", period: 5 }, 'flow["period"]'],
    ["an unknown field", { key: "a", limit: 5 }, "limit"],
    ["a rate of 0", { key: "a", rate: 0 }, "rate"],
  ] as const)
    it(`refuse ${title} by the name of the field`, async () => {
      const { status, body } = await api.call("POST", "/v1/tasks", { ...TASK, flow });
      assert.equal(status, 400);
      assert.ok(JSON.stringify(body).includes(field.replaceAll('"', '\\"')), JSON.stringify(body));
    });

  it("refuse a PUT that stores nothing, or a period alone", async () => {
    for (const body of [{}, { period: 5 }, { concurrency: 0 }])
      assert.equal((await api.call("PUT", "/v1/flows/c-2", body)).status, 400);
  });

  it("refuse tasks beyond max_waiting, in batches too, and count delayed ones as not waiting", async () => {
    await api.call("PUT", "/v1/flows/full", { max_waiting: 2 });
    await api.call("POST", "/v1/flows/full/pause");
    const due = { ...TASK, delay: 0, flow: "full" };
    const batch = await api.call("POST", "/v1/tasks/batch", {
      tasks: [due, due, due, { ...due, delay: 60 }],
    });
    assert.deepEqual([batch.body.created, batch.body.refused], [3, 1]);
    const refused = await api.call("POST", "/v1/tasks", due);
    assert.deepEqual([refused.status, refused.body.code], [429, "flow_backlog_full"]);
    const { flow } = (await api.call("GET", "/v1/flows/full")).body;
    assert.deepEqual([flow.waiting, flow.paused], [2, true]);
  });

  it("take tasks of ordered queues, and let a queue become ordered while tasks with a flow wait in it", async () => {
    await api.call("POST", "/v1/queues", { name: "line", ordered: true });
    await api.call("POST", "/v1/queues", { name: "lane" });
    const flow = { key: "c-3", concurrency: 1, rate: 10, ordered: true };
    const created = await api.call("POST", "/v1/tasks", { ...TASK, queue: "line", flow });
    assert.equal(created.status, 201);
    const item = { ...TASK, queue: "line", flow: "c-3" };
    const batch = await api.call("POST", "/v1/tasks/batch", {
      tasks: [item, { ...item, flow: "c-4" }, TASK],
    });
    assert.deepEqual([batch.body.created, batch.body.refused], [3, 0]);
    const dedupe = { key: "c-3", mode: "first", window: 60 };
    assert.equal((await api.call("POST", "/v1/tasks", { ...item, dedupe })).status, 201);

    await api.call("POST", "/v1/tasks", { ...TASK, queue: "lane", flow: "c-3" });
    const ordered = await api.call("PATCH", "/v1/queues/lane", { ordered: true, concurrency: 1 });
    assert.deepEqual([ordered.status, ordered.body.ordered], [200, true]);
  });

  it("explain why a task waits", async () => {
    await api.call("POST", "/v1/flows/why/pause");
    const { body } = await api.call("POST", "/v1/tasks", { ...TASK, delay: 0, flow: "why" });
    const explained = await api.call("GET", `/v1/tasks/${body.id}/explain`);
    const codes = explained.body.reasons.map(({ code }: { code: string }) => code);
    assert.ok(codes.includes("flow_paused"), codes.join());
  });
});
