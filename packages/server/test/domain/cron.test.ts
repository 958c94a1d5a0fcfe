import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import { Cron } from "croner";
import {
  cronComplaint,
  cronTimes,
  isTimeZone,
  nextTimes,
  rememberCronTimes,
} from "../../src/features/schedules/domain-cron.ts";

function times(cron: string, zone: string, after: string, count = 3): string[] {
  return nextTimes(cron, zone, new Date(after), count).map((at) => at.toISOString().replace(".000Z", "Z"));
}

describe("cron expressions", () => {
  it("have five fields, or six with seconds first", () => {
    assert.deepEqual(times("*/20 * * * *", "UTC", "2026-01-01T00:00:00.5Z"), [
      "2026-01-01T00:20:00Z",
      "2026-01-01T00:40:00Z",
      "2026-01-01T01:00:00Z",
    ]);
    assert.deepEqual(times("15,45 * * * * *", "UTC", "2026-01-01T00:00:15Z", 2), [
      "2026-01-01T00:00:45Z",
      "2026-01-01T00:01:15Z",
    ]);
    for (const cron of ["* * * *", "* * * * * * *", "", "@daily", "0 0 L * *\n* *"])
      assert.equal(cronComplaint(cron), "cron must have five fields, or six with seconds first");
  });

  it("match either day of month or day of week when both are given, and accept names", () => {
    assert.deepEqual(times("0 0 13 * fri", "UTC", "2026-01-01T00:00:00Z", 4), [
      "2026-01-02T00:00:00Z",
      "2026-01-09T00:00:00Z",
      "2026-01-13T00:00:00Z",
      "2026-01-16T00:00:00Z",
    ]);
    assert.deepEqual(times("0 0 1 JAN-feb *", "UTC", "2026-01-01T00:00:00Z", 2), [
      "2026-02-01T00:00:00Z",
      "2027-01-01T00:00:00Z",
    ]);
    assert.equal(times("0 0 * * sat-sun", "UTC", "2026-01-01T00:00:00Z", 2)[1], "2026-01-04T00:00:00Z");
  });

  it("are refused with the name of the invalid field", () => {
    const wrong: [string, string][] = [
      ["60 * * * *", 'minute "60"'],
      ["* 24 * * *", 'hour "24"'],
      ["* * 0 * *", 'day of month "0"'],
      ["* * * 13 *", 'month "13"'],
      ["* * * * fry", 'day of week "fry"'],
      ["61 * * * * *", 'second "61"'],
      ["5-1 * * * *", 'minute "5-1"'],
      ["*/0 * * * *", 'minute "*/0"'],
      ["5/10 * * * *", 'minute "5/10"'],
      ["1,,2 * * * *", 'minute "1,,2"'],
      ["* * L * *", 'day of month "L"'],
      ["* * * * 1#2", 'day of week "1#2"'],
    ];
    for (const [cron, field] of wrong)
      assert.ok(cronComplaint(cron)?.startsWith(`cron has an invalid ${field}`), cron);
  });

  it("are refused if they can never fire, and accepted if they rarely do", () => {
    for (const cron of ["0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 0 31 2 *"])
      assert.match(cronComplaint(cron) ?? "", /never fires/);
    assert.equal(cronComplaint("0 0 30 2 mon"), null);
    assert.deepEqual(times("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", 1), ["2104-02-29T00:00:00Z"]);
  });

  it("fire once, right after the gap, for a time that a clock change skips", () => {
    // Berlin: 2026-03-29, 02:00 becomes 03:00.
    assert.deepEqual(times("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z"), [
      "2026-03-28T01:30:00Z",
      "2026-03-29T01:00:00Z",
      "2026-03-30T00:30:00Z",
    ]);
    assert.deepEqual(times("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:29:59Z"), [
      "2026-03-29T00:30:00Z",
      "2026-03-29T01:00:00Z",
      "2026-03-29T01:30:00Z",
    ]);
    // Lord Howe skips half an hour, Samoa a whole day: 2011-12-30.
    assert.equal(
      times("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", 1)[0],
      "2026-10-03T15:30:00Z",
    );
    assert.equal(times("0 12 30 12 *", "Pacific/Apia", "2011-12-29T00:00:00Z", 1)[0], "2011-12-30T10:00:00Z");
  });

  it("fire once, at the first occurrence, for a time that a clock change repeats", () => {
    // New York: 2026-11-01, 02:00 becomes 01:00.
    assert.deepEqual(times("30 1 * * *", "America/New_York", "2026-11-01T00:00:00Z", 2), [
      "2026-11-01T05:30:00Z",
      "2026-11-02T06:30:00Z",
    ]);
    assert.deepEqual(times("*/30 * * * *", "America/New_York", "2026-11-01T05:00:00Z"), [
      "2026-11-01T05:30:00Z",
      "2026-11-01T07:00:00Z",
      "2026-11-01T07:30:00Z",
    ]);
    // Asked in the second of the two hours.
    assert.deepEqual(times("0 * * * * *", "America/New_York", "2026-11-01T06:10:00Z", 1), [
      "2026-11-01T07:00:00Z",
    ]);
  });

  it("need at most two lookups per time, even in a repeated hour", () => {
    const lookups = mock.method(Cron.prototype, "nextRun");
    const offsets = mock.method(Intl.DateTimeFormat.prototype, "formatToParts");
    try {
      // Berlin: 2026-10-25, 03:00 becomes 02:00 at 01:00 UTC.
      assert.deepEqual(times("* * * * * *", "Europe/Berlin", "2026-10-25T01:00:00Z", 1), [
        "2026-10-25T02:00:00Z",
      ]);
      assert.equal(lookups.mock.callCount(), 2);
      assert.ok(offsets.mock.callCount() < 40, String(offsets.mock.callCount()));

      offsets.mock.resetCalls();
      times("* * * * * *", "UTC", "2026-10-25T01:00:00Z", 5);
      assert.equal(offsets.mock.callCount(), 0);
    } finally {
      lookups.mock.restore();
      offsets.mock.restore();
    }
  });

  it("share cached lookups between schedules, with the same times as without the cache", () => {
    const lookups = mock.method(Cron.prototype, "nextRun");
    try {
      const timesOf = rememberCronTimes();
      const [cron, zone] = ["30 * * * *", "Europe/Berlin"];
      const from = Date.parse("2026-10-24T22:00:00Z");
      const instants = Array.from({ length: 360 }, (_, minute) => new Date(from + minute * 60_000));
      const remembered = instants.map((at) => timesOf(cron, zone).next(at));
      assert.ok(lookups.mock.callCount() < 20, `${lookups.mock.callCount()} lookups`);
      assert.deepEqual(
        remembered,
        instants.map((at) => cronTimes(cron, zone).next(at)),
      );
      // Another order, another zone, another expression.
      assert.deepEqual(timesOf(cron, zone).next(new Date(from)), cronTimes(cron, zone).next(new Date(from)));
      assert.deepEqual(
        timesOf(cron, "UTC").next(new Date(from)),
        cronTimes(cron, "UTC").next(new Date(from)),
      );
    } finally {
      lookups.mock.restore();
    }
  });

  it("accept IANA time zones, and no offsets", () => {
    for (const zone of ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5"])
      assert.ok(isTimeZone(zone), zone);
    for (const zone of ["", "+01:00", "Mars/Olympus", "Europe/Berlin\0", "x".repeat(100)])
      assert.ok(!isTimeZone(zone), zone);
  });
});
