import assert from "node:assert/strict";
import { it } from "node:test";
import { createEventDelayReader } from "../../../src/service/tasks/event-delay.ts";
import { createTestTime } from "../../test-time.ts";

it("counts from the first look when PostgreSQL hides when a transaction began, and names the longest", async () => {
  const time = createTestTime();
  const holder = { pid: 7, application: "psql", user: "postgres", state: null };
  const hidden = { ...holder, name: "3/1 7", forMs: null };
  let rows: object[] = [hidden];
  const sql = { rows: async <Row extends object>() => rows as Row[] };
  const delays = createEventDelayReader({ sql, time });

  assert.equal(await delays.read(), null);
  const since = new Date(time.nowMs());
  time.pass(5_000);
  assert.deepEqual(await delays.read(), { behindMs: 5_000, holder: { ...holder, since } });

  rows = [hidden, { ...holder, pid: 8, name: "4/1 8", forMs: 6_000 }];
  assert.equal((await delays.read())?.holder.pid, 8);

  rows = [{ ...hidden, name: "3/2 7" }];
  assert.equal(await delays.read(), null, "it is another transaction of the same session");
});
