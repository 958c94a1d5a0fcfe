import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createEgressGuard } from "../../src/outbound/egress-guard.ts";
import { openTestServer, plainRequest, type TestServer } from "../test-server.ts";

const REFUSED =
  "The egress policy refuses the call: host inner.test is private or reserved, or port 80 is not for HTTP";

describe("an address that the egress policy refuses once the name is known", () => {
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

  it("ends the task at once", async () => {
    const { id } = await server.tasks.create(server.principal, plainRequest("http://inner.test/"));
    await server.dispatchOnce();
    const task = await server.task(id);
    assert.deepEqual(
      [task.status, task.failureReason, task.error, task.attempts.map(({ status }) => status)],
      ["failed", "blocked", REFUSED, ["blocked"]],
    );
  });

  it("ends the notification at once", async () => {
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
