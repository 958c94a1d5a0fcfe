import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createLimitsOf } from "../../src/domain/limits.ts";
import { createOpenFlowQuota } from "../../src/service/open-flow-quota.ts";
import type { Sql } from "../../src/store/sql.ts";
import { openTestStore, type TestStore } from "../test-store.ts";

describe("the limit of open flows", () => {
  let store: TestStore;
  before(async () => {
    store = await openTestStore();
  });
  after(() => store.close());

  it("counts once for all tasks that arrive together", async () => {
    const { teamId } = await store.openQueue();
    let statements = 0;
    const sql: Sql = {
      rows(...query) {
        statements += 1;
        return store.database.rows(...query);
      },
    };
    const quota = createOpenFlowQuota({ sql, monotonicMs: () => 0 });
    const team = { teamId, plan: "free" as const, limits: createLimitsOf()("free", null) };
    await Promise.all(Array.from({ length: 50 }, (_, index) => quota.admit(team, `customer-${index}`)));
    assert.equal(statements, 1);
  });
});
