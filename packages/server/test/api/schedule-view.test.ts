import assert from "node:assert/strict";
import { it, mock } from "node:test";
import { Cron } from "croner";
import { cutPage } from "../../src/domain/page.ts";
import type { ListedSchedule } from "../../src/features/schedules/domain.ts";
import { summaryPage } from "../../src/features/schedules/view.ts";
import { createTurns } from "../../src/service/turns.ts";

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

it("computes the next times of long schedule lists in turns of 8 ms, which all requests share", async () => {
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
    // A millisecond for the four times of a schedule.
    const turns = createTurns({ nowMs: () => lookups.mock.callCount() / 4, soon: setImmediate });
    const pageOf = (teamId: number) =>
      cutPage(Array<ListedSchedule>(500).fill({ ...SCHEDULE, teamId }), 500, ({ name }) => name);
    const [{ items: views }, other] = await Promise.all([
      summaryPage(pageOf(1), turns),
      summaryPage(pageOf(2), turns),
    ]);
    assert.equal(other.items.length, 500);
    assert.equal(views.length, 500);
    assert.deepEqual(views[499]?.next_runs.slice(0, 2), [
      "2026-10-25T00:00:00.000Z",
      "2026-10-25T00:00:01.000Z",
    ]);
    assert.equal(lookups.mock.callCount(), 4_000);
    assert.ok(most <= 32, `${most} in one turn`);
  } finally {
    ticking = false;
    lookups.mock.restore();
  }
});
