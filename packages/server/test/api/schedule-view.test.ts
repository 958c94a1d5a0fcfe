import assert from "node:assert/strict";
import { it, mock } from "node:test";
import { Cron } from "croner";
import { cutPage } from "../../src/domain/page.ts";
import type { ListedSchedule } from "../../src/features/schedules/domain.ts";
import { summaryPage } from "../../src/features/schedules/view.ts";

const AT = new Date("2026-10-25T00:00:00Z");

const SCHEDULE: ListedSchedule = {
  teamId: 1,
  id: "019a0000-0000-7000-8000-000000000000",
  name: "often",
  sandbox: false,
  cron: "* * * * * *",
  timezone: "Europe/Berlin",
  overlap: "allow",
  catchUp: "one",
  paused: false,
  nextRunAt: AT,
  lastTask: null,
  lastError: null,
  aheadSeconds: 0,
  createdAt: AT,
  updatedAt: AT,
  now: AT,
};

it("computes at most 80 next times of a long schedule list per event loop turn", async () => {
  const lookups = mock.method(Cron.prototype, "nextRun");
  let most = 0;
  let ticking = true;
  let before = 0;
  const tick = () => {
    const count = lookups.mock.callCount();
    most = Math.max(most, count - before);
    before = count;
    if (ticking) setImmediate(tick);
  };
  setImmediate(tick);
  try {
    const { items: views } = await summaryPage(
      cutPage(Array(1_000).fill(SCHEDULE), 1_000, ({ name }) => name),
    );
    assert.equal(views.length, 1_000);
    assert.deepEqual(views[999]?.next_runs.slice(0, 2), [
      "2026-10-25T00:00:00.000Z",
      "2026-10-25T00:00:01.000Z",
    ]);
    assert.equal(lookups.mock.callCount(), 4_000);
    assert.ok(most <= 80, `${most} in one turn`);
  } finally {
    ticking = false;
    lookups.mock.restore();
  }
});
