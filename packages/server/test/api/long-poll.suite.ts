import assert from "node:assert/strict";
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { until } from "../patience.ts";
import { createTestApi, type TestApi } from "./test-api.ts";

describe("?wait", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi({});
    await api.call("POST", "/v1/queues", { name: "waited", max_retries: 0 });
  });
  after(() => api.close());

  const target = () => api.server.target.url;

  it("answers a creation with the record of the ended task, in either shape", async () => {
    const queue = await api.call("POST", "/v1/tasks?wait=25", { queue: "waited", webhook_url: target() });
    assert.equal(queue.status, 201);
    assert.deepEqual([queue.body.status, queue.body.attempts.length], ["completed", 1]);
    assert.equal("callback_id" in queue.body, false);

    const direct = await api.call("POST", "/v1/tasks?wait=25", { queue: "waited", targetUrl: target() });
    assert.deepEqual([direct.status, direct.body.task.status], [201, "completed"]);
    assert.deepEqual(Object.keys(direct.body), ["task", "callbackId", "callbackUrl"]);
  });

  it("shows the callback beside the record, and marks a repeated creation as replayed", async () => {
    const body = { queue: "waited", webhook_url: target(), wait_for_callback: true, idempotency_key: "once" };
    const first = await api.call("POST", "/v1/tasks", body);
    const waited = api.call("POST", "/v1/tasks?wait=25", body);
    await until(() => api.services.waits.count === 1);
    await api.call("POST", `/v1/callbacks/${first.body.callback_id}`, { done: true });
    const { status, body: record, headers } = await waited;

    assert.deepEqual([status, record.id, record.status], [200, first.body.id, "completed"]);
    assert.equal(headers["idempotent-replayed"], "true");
    assert.equal(record.callback_id, first.body.callback_id);
    assert.equal(record.callback_url, first.body.callback_url);
  });

  it("accepts integers from 0 to 60, and refuses all else with 400", async () => {
    const { body } = await api.call("POST", "/v1/tasks", { queue: "default", webhook_url: target() });
    for (const wrong of ["61", "-1", "soon", "1.5", ""]) {
      const answer = await api.call("GET", `/v1/tasks/${body.id}?wait=${wrong}`);
      assert.deepEqual([answer.status, answer.body.error], [400, "wait must be an integer between 0 and 60"]);
    }
    assert.equal((await api.call("GET", `/v1/tasks/${body.id}?wait=0`)).body.status, "pending");
  });

  it("ends when the client disconnects, and immediately when the server stops", async () => {
    const { body } = await api.call("POST", "/v1/tasks", { queue: "default", webhook_url: target() });
    await api.app.listen({ host: "127.0.0.1", port: 0 });
    const { port } = api.app.server.address() as AddressInfo;
    const ask = () =>
      request({ port, path: `/v1/tasks/${body.id}?wait=60`, headers: { ...api.team.headers } }).end();
    const { waits } = api.services;

    const leaver = ask().on("error", () => {});
    await until(() => waits.count === 1);
    leaver.destroy();
    await until(() => waits.count === 0);

    const stayer = new Promise<unknown[]>((resolve, reject) => {
      ask()
        .on("response", (response) => resolve([response.resume().statusCode, response.headers.connection]))
        .on("error", reject);
    });
    await until(() => waits.count === 1);
    await api.app.close();
    // Kept open, the connection would keep the server from stopping.
    assert.deepEqual(await stayer, [200, "close"]);
  });
});
