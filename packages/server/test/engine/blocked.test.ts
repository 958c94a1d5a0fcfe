import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createEgressGuard } from "../../src/outbound/egress-guard.ts";
import { openTestServer, plainRequest, type TestServer } from "../test-server.ts";

const REFUSED =
  "The egress policy refuses the call: host inner.test is private or reserved, or port 80 is not for HTTP";

describe("a host name that resolves to an address refused by the egress policy", () => {
  let server: TestServer;
  before(async () => {
    server = await openTestServer(
      { maxRetries: 3 },
      {
        guard: createEgressGuard({ policy: "public", allow: ["127.0.0.1"] }),
        lookup: async () => ["10.0.0.7"],
      },
    );
  });
  after(() => server.close());

  it("fails the task without a retry", async () => {
    const { id } = await server.tasks.create(server.principal, plainRequest("http://inner.test/"));
    await server.dispatchOnce();
    const task = await server.task(id);
    assert.deepEqual(
      [task.status, task.failureReason, task.error, task.attempts.map(({ status }) => status)],
      ["failed", "blocked", REFUSED, ["blocked"]],
    );
  });

  it("fails the notification without a retry", async () => {
    await server.tasks.create(server.principal, {
      ...plainRequest(server.target.url),
      onCompleteUrl: "http://inner.test/",
    });
    await server.dispatchOnce();
    await server.engine.courier.workOnce();
    await server.engine.courier.finished();
    const rows = await server.database.rows("select status, attempts, last_error from notifications");
    assert.deepEqual(rows, [{ status: "failed", attempts: 1, last_error: REFUSED }]);
  });
});
