import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { createMetrics, type Metrics } from "../../src/metrics/metrics.ts";
import type { QueueDepth } from "../../src/metrics/queue-metrics.ts";
import { createTestTime, type TestTime } from "../test-time.ts";
import { parseMetrics } from "./parse-metrics.ts";

const depthOf = (queue: string | null, pending: number): QueueDepth => ({
  queue,
  pending,
  active: 0,
  waiting: 0,
  polling: 0,
  oldestPendingSeconds: pending,
});

describe("queue depths", () => {
  let time: TestTime;
  let metrics: Metrics;
  let reads: number;
  let read: () => Promise<readonly QueueDepth[]>;
  let behindMs: number;
  beforeEach(() => {
    time = createTestTime();
    reads = 0;
    behindMs = 0;
    read = async () => [depthOf("default", reads)];
    metrics = createMetrics({
      version: "1.2.3",
      time,
      readDepths() {
        reads += 1;
        return read();
      },
      readEventsBehindMs: async () => behindMs,
    });
  });

  const scrape = async () => parseMetrics(await metrics.render());
  const pending = { queue: "default", state: "pending" };

  it("are read once in 5 seconds, however many scrapes there are", async () => {
    await Promise.all([scrape(), scrape(), scrape()]);
    time.pass(4_999);
    assert.equal((await scrape()).value("bellhop_queue_tasks", pending), 1);
    assert.equal(reads, 1);

    time.pass(1);
    assert.equal((await scrape()).value("bellhop_queue_tasks", pending), 2);
  });

  it("stay valid when two scrapes follow each other at once", async () => {
    metrics.watchProcess();
    await scrape();
    await scrape();
  });

  it("are read less often when reading is slow", async () => {
    read = async () => {
      time.pass(1_000);
      return [depthOf("default", reads)];
    };
    await scrape();
    time.pass(19_999);
    await scrape();
    assert.equal(reads, 1);
    time.pass(1);
    await scrape();
    assert.equal(reads, 2);
  });

  it("omit queues that no longer exist", async () => {
    await scrape();
    time.pass(5_000);
    read = async () => [depthOf("other", 1)];
    assert.deepEqual([...(await scrape()).labelValues("queue")], ["other"]);
  });

  it("name the total of the remaining queues _rest", async () => {
    read = async () => [depthOf("default", 1), depthOf(null, 7)];
    const scraped = await scrape();
    assert.equal(scraped.value("bellhop_queue_tasks", { queue: "_rest", state: "pending" }), 7);
    assert.equal(scraped.value("bellhop_queue_oldest_pending_seconds", { queue: "_rest" }), 7);
  });

  it("come with the delay of events, which is omitted with them", async () => {
    assert.equal((await scrape()).value("bellhop_events_behind_seconds"), 0);
    time.pass(5_000);
    behindMs = 61_500;
    assert.equal((await scrape()).value("bellhop_events_behind_seconds"), 61.5);
    time.pass(5_000);
    read = async () => {
      throw new Error("away");
    };
    assert.deepEqual((await scrape()).families.get("bellhop_events_behind_seconds")?.samples, []);
  });

  it("are omitted when they cannot be read, and read again by the next scrape", async () => {
    await scrape();
    time.pass(5_000);
    read = async () => {
      throw new Error("away");
    };
    const away = await scrape();
    assert.equal(away.value("bellhop_database_up"), 0);
    assert.deepEqual([...away.labelValues("queue")], []);
    assert.equal(away.value("bellhop_tasks_created_total", { kind: "queue" }), 0, "the others are there");

    read = async () => [depthOf("default", 3)];
    const back = await scrape();
    assert.equal(back.value("bellhop_database_up"), 1);
    assert.equal(back.value("bellhop_queue_tasks", pending), 3);
  });

  it("are waited for at most 2.5 s, and not requested twice", async () => {
    let answer: (depths: readonly QueueDepth[]) => void = () => {};
    read = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    for (let scrapes = 0; scrapes < 2; scrapes += 1) {
      const waiting = scrape();
      time.pass(2_500);
      assert.equal((await waiting).value("bellhop_database_up"), 0);
    }
    assert.equal(reads, 1);

    answer([depthOf("default", 4)]);
    const late = await scrape();
    assert.equal(late.value("bellhop_queue_tasks", pending), 4);
    assert.equal(late.value("bellhop_database_up"), 1);
    assert.equal(reads, 1);
  });
});
