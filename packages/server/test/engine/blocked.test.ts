import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createEgressGuard } from "../../src/outbound/egress-guard.ts";
import { openTestHouse, plainRequest, type TestHouse } from "../test-house.ts";

const REFUSED =
  "The egress policy refuses the call: host inner.test is private or reserved, or port 80 is not for HTTP";

describe("an address that the egress policy refuses once the name is known", () => {
  let house: TestHouse;
  before(async () => {
    house = await openTestHouse(
      { maxRetries: 3 },
      {
        guard: createEgressGuard({ policy: "public", allow: ["127.0.0.1"] }),
        lookup: async () => ["10.0.0.7"],
      },
    );
  });
  after(() => house.close());

  it("ends the task at once", async () => {
    const { id } = await house.tasks.create(house.principal, plainRequest("http://inner.test/"));
    await house.dispatchOnce();
    const task = await house.task(id);
    assert.deepEqual(
      [task.status, task.failureReason, task.error, task.attempts.map(({ status }) => status)],
      ["failed", "blocked", REFUSED, ["blocked"]],
    );
  });

  it("ends the notification at once", async () => {
    await house.tasks.create(house.principal, {
      ...plainRequest(house.target.url),
      onCompleteUrl: "http://inner.test/",
    });
    await house.dispatchOnce();
    await house.engine.courier.workOnce();
    await house.engine.courier.finished();
    const rows = await house.database.rows("select status, attempts, last_error from notifications");
    assert.deepEqual(rows, [{ status: "failed", attempts: 1, last_error: REFUSED }]);
  });
});
