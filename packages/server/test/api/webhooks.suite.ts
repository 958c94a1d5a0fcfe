import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createTestApi, PRIVATE_RULE, type TestApi } from "./test-api.ts";

describe("/v1/webhooks", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  const WEBHOOK = { url: "https://example.com/hook", events: ["task.completed"] };
  const create = (fields: object = {}) => api.call("POST", "/v1/webhooks", { ...WEBHOOK, ...fields });

  it("creates, shows, lists, updates and deletes a webhook, with audit events", async () => {
    const { status, body } = await create({ queue: "emails", tag: null });
    assert.equal(status, 201);
    const { id, created_at, updated_at, ...rest } = body.webhook;
    assert.match(id, /^wh_[0-9a-z]{26}$/);
    assert.deepEqual(rest, {
      ...WEBHOOK,
      queue: "emails",
      tag: null,
      enabled: true,
      disabled_at: null,
      failing_since: null,
    });
    assert.deepEqual((await api.call("GET", `/v1/webhooks/${id}`)).body, body);
    assert.deepEqual((await api.call("GET", "/v1/webhooks")).body, { webhooks: [body.webhook] });
    const changed = await api.call("PATCH", `/v1/webhooks/${id}`, {
      enabled: false,
      events: ["task.failed"],
    });
    assert.deepEqual(
      [changed.body.webhook.enabled, changed.body.webhook.events, changed.body.webhook.queue],
      [false, ["task.failed"], "emails"],
    );
    assert.deepEqual((await api.call("GET", `/v1/webhooks/${id}/deliveries`)).body, { deliveries: [] });
    assert.deepEqual((await api.call("DELETE", `/v1/webhooks/${id}`)).body, {
      webhook: { id, deleted: true },
    });
    for (const path of ["", "/deliveries"]) {
      const gone = await api.call("GET", `/v1/webhooks/${id}${path}`);
      assert.deepEqual([gone.status, gone.body.error], [404, "Webhook not found"]);
    }
    const log = (await api.call("GET", "/v1/audit?limit=3")).body.events;
    assert.deepEqual(
      log.map((event: { action: string }) => event.action),
      ["webhook.deleted", "webhook.updated", "webhook.created"],
    );
    assert.deepEqual(log[2].detail, {
      host: "example.com",
      events: ["task.completed"],
      queue: "emails",
      enabled: true,
    });
  });

  it("removes a filter that is set to null, and keeps one that is left out", async () => {
    const { id } = (await create({ queue: "emails", tag: "signup" })).body.webhook;
    const change = async (fields: object) => {
      const { queue, tag } = (await api.call("PATCH", `/v1/webhooks/${id}`, fields)).body.webhook;
      return { queue, tag };
    };
    assert.deepEqual(await change({ queue: null }), { queue: null, tag: "signup" });
    assert.deepEqual(await change({ tag: null, url: null }), { queue: null, tag: null });
    assert.deepEqual(await change({ queue: "emails" }), { queue: "emails", tag: null });
    const log = (await api.call("GET", "/v1/audit?limit=3")).body.events;
    assert.deepEqual(log[2].detail, { queue: null });
    await api.call("DELETE", `/v1/webhooks/${id}`);
  });

  it("lists in pages if there are more than the limit", async () => {
    const made = [await create(), await create(), await create()].map(({ body }) => body.webhook.id);
    const first = (await api.call("GET", "/v1/webhooks?limit=2")).body;
    const { nextCursor, hasMore } = first.pagination;
    assert.equal(hasMore, true);
    const second = (await api.call("GET", `/v1/webhooks?limit=2&cursor=${nextCursor}`)).body;
    const listed = [...first.webhooks, ...second.webhooks].map(({ id }: { id: string }) => id);
    assert.deepEqual(listed, made.reverse());
  });

  it("refuses an invalid webhook with the rule that it breaks", async () => {
    const wrong: readonly (readonly [object, string | RegExp])[] = [
      [{ url: "ftp://example.com" }, "url must be a valid http or https URL"],
      [{ url: "https://private.example" }, `url ${PRIVATE_RULE}`],
      [{ events: [] }, /^events /],
      [{ events: ["task.born"] }, /^events/],
      [{ events: ["task.failed", "task.failed"] }, /^events /],
      [{ queue: "no such name!" }, /^queue /],
      [{ tag: "\u0000" }, /^tag /],
      [{ secret: "x" }, /secret/],
    ];
    for (const [fields, expected] of wrong) {
      const { status, body } = await create(fields);
      assert.equal(status, 400, JSON.stringify(fields));
      if (typeof expected === "string") assert.equal(body.error, expected);
      else assert.match(body.error, expected);
    }
  });
});
