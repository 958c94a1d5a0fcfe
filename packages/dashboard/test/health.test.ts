import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { complaintsOf } from "../src/data/health.ts";
import { perMinute, type QueueSeries, type Stats, summarize } from "../src/data/stats.ts";

const NOW = Date.parse("2026-03-01T12:00:30Z");
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();
const series = (queue: string | null, change: Partial<QueueSeries> = {}): QueueSeries => ({
  queue,
  created: [0, 60, 120],
  completed: [0, 60, 60],
  failed: [0, 0, 60],
  cancelled: [0, 0, 0],
  retried: [0, 0, 0],
  pending: [null, 4, 8],
  waitMs: { p50: [null, 1, 2], p95: [null, 10, 20] },
  durationMs: { p50: [null, 1, 2], p95: [null, 10, 20] },
  oldestPendingAt: null,
  now: { pending: 3, active: 0, waiting: 0, polling: 0 },
  ...change,
});
const statsOf = (...queues: QueueSeries[]): Stats => ({
  range: "1h",
  from: ago(900),
  to: ago(0),
  stepSeconds: 300,
  at: [ago(900), ago(600), ago(300)],
  queues,
  total: series(null),
});
const quiet = { completed: [1], failed: [0] };
const queue = (name: string, paused = false) => ({ name, paused, stats: { pending: 12 } });

describe("complaintsOf", () => {
  it("names a host that an open circuit breaker holds back, after what fails", () => {
    const breakers = [{ queue: "billing", host: "pay.example.com:8443", openedAt: ago(90) }];
    assert.deepEqual(complaintsOf({ queues: [], stats: undefined, failures: [], breakers, now: NOW }), [
      {
        queue: "billing",
        kind: "held",
        text: "pay.example.com:8443 has been failing for 1 min: its circuit breaker is open, its tasks wait",
        words: null,
        group: null,
      },
    ]);
  });

  it("is empty while all queues keep up", () => {
    const stats = statsOf(series("emails", quiet));
    assert.deepEqual(
      complaintsOf({ queues: [queue("emails")], stats, failures: [], breakers: [], now: NOW }),
      [],
    );
  });

  it("names what fails, where and since when, until it is over", () => {
    const group = (lastSeen: number) => ({
      queue: "emails",
      host: "api.example.com",
      failureReason: "retries_exhausted",
      responseCode: "503",
      error: "The target answered 503: upstream is down",
      course: [312],
      topTags: [],
      topMetadata: [],
      count: 312,
      countIsCapped: false,
      firstSeen: ago(14 * 60),
      lastSeen: ago(lastSeen),
      sampleTask: "task_1",
      filter: { queue: "emails", status: "failed", createdAfter: ago(900), dismissed: "false" as const },
    });
    const told = (lastSeen: number) =>
      complaintsOf({ queues: [], stats: undefined, failures: [group(lastSeen)], breakers: [], now: NOW }).map(
        ({ text, words }) => `${text}: ${words}`,
      );
    assert.deepEqual(told(10), ["312 failing at api.example.com for 14 min: upstream is down"]);
    assert.deepEqual(told(400), []);
  });

  it("distinguishes a queue with a backlog from a paused one", () => {
    const late = { ...quiet, oldestPendingAt: ago(200) };
    const stats = statsOf(series("media", late), series("billing", late));
    const queues = [queue("media"), queue("billing", true)];
    const found = complaintsOf({ queues, stats, failures: [], breakers: [], now: NOW });
    assert.deepEqual(
      found.map(({ queue, text }) => `${queue}: ${text}`),
      ["media: 3 waiting, the oldest for 3 min", "billing: paused, 12 waiting"],
    );
  });
});

describe("summarize", () => {
  it("compares with the previous period, without the time before the server ran", () => {
    const stats = statsOf();
    const { createdPerMinute, failureShare } = summarize(stats, stats.total);
    assert.deepEqual(createdPerMinute, { now: 24, before: 12, isComparable: true });
    assert.deepEqual(failureShare, { now: 0.5, before: 0, isComparable: true });
  });

  it("does not compare fewer than twenty tasks", () => {
    const comparable = (created: readonly number[]) =>
      summarize(statsOf(), series(null, { created })).createdPerMinute.isComparable;
    assert.deepEqual([comparable([0, 8, 0]), comparable([0, 8, 19])], [false, false]);
    assert.deepEqual([comparable([0, 20, 0]), comparable([0, 1, 20])], [true, true]);
    const ofFew = summarize(statsOf(), series(null, { completed: [0, 60, 5], failed: [0, 0, 0] }));
    assert.deepEqual([ofFew.failureShare.isComparable, ofFew.waitP95.isComparable], [false, false]);
  });

  it("states the length of the recent period", () => {
    assert.equal(summarize(statsOf(), series(null)).recentSeconds, 300);
    assert.equal(summarize({ ...statsOf(), stepSeconds: 60 }, series(null)).recentSeconds, 120);
  });

  it("shows a period without a running node as a gap", () => {
    const stats = statsOf();
    assert.deepEqual(perMinute(stats, stats.total, stats.total.created), [null, 12, 24]);
  });
});
