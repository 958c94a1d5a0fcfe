import assert from "node:assert/strict";
import { before, beforeEach, describe, it } from "node:test";
import { createTestApi, type TestApi } from "./test-api.ts";

describe("the log", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });
  beforeEach(() => {
    api.lines.length = 0;
  });

  it("has one line per request, with the route's pattern, the team and the request's id", async () => {
    await api.call("GET", "/v1/tasks/task_secret", undefined, { "x-request-id": "abc" });

    assert.equal(api.lines.length, 1);
    const { method, route, status, team, requestId, msg, ms } = api.lines[0] ?? {};
    assert.deepEqual(
      { method, route, status, team, requestId, msg },
      {
        method: "GET",
        route: "/v1/tasks/:task_id",
        status: 404,
        team: api.team.id,
        requestId: "abc",
        msg: "request",
      },
    );
    assert.equal(typeof ms, "number");
  });

  it("has one line for what no route matched, and for what the router refused", async () => {
    await api.call("GET", "/secret");
    await api.call("GET", "/v1/%zz");

    assert.deepEqual(
      api.lines.map(({ route, status, team }) => [route, status, team]),
      [
        [null, 404, null],
        [null, 400, null],
      ],
    );
  });

  it("never holds a credential, a URL, a header or a body", async () => {
    await api.call(
      "POST",
      "/v1/tasks",
      {
        queue: "default",
        webhook_url: "http://a/?secret",
        payload: { secret: 1 },
        headers: { "x-secret": "secret" },
      },
      { "x-secret": "secret" },
    );
    await api.call("POST", "/v1/tasks?secret=1", { secret: 1 });
    await api.call("GET", "/v1/tasks/secret");
    await api.call("GET", "/secret");

    const text = JSON.stringify(api.lines);
    assert.equal(api.lines.length, 4);
    assert.ok(!text.includes("secret"), text);
    assert.ok(!text.includes(api.team.key), text);
  });

  it("holds the stack of a bug, of which the caller learns nothing", async (test) => {
    test.mock.method(api.services.queues, "list", async () => {
      throw new Error("the secret reason");
    });

    const { status, body, headers } = await api.call("GET", "/v1/queues");

    assert.equal(status, 500);
    assert.deepEqual(body, { error: "Internal server error", code: "internal" });
    const bug = api.lines.find((line) => line.msg === "request failed");
    assert.equal(bug?.requestId, headers["x-request-id"]);
    assert.match(JSON.stringify(bug), /the secret reason.*log\.suite\.ts/);
  });
});
