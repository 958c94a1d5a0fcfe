import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createSeries } from "../../src/metrics/series.ts";
import { parseMetrics } from "./parse-metrics.ts";

describe("a counter", () => {
  it("without labels is 0 from the start", () => {
    const series = createSeries();
    const rings = series.counter("rings_total", "Rings.")();
    assert.equal(parseMetrics(series.text()).value("rings_total"), 0);
    rings.value += 2;
    assert.equal(parseMetrics(series.text()).value("rings_total"), 2);
  });

  it("has a value for each set of labels", () => {
    const series = createSeries();
    const rings = series.counter("rings_total", "Rings.", ["floor", "bell"]);
    rings("1", "left").value += 1;
    rings("1", "right").value += 5;
    rings("1", "left").value += 1;

    const scrape = parseMetrics(series.text());
    assert.equal(scrape.value("rings_total", { floor: "1", bell: "left" }), 2);
    assert.equal(scrape.value("rings_total", { floor: "1", bell: "right" }), 5);
  });

  it("escapes quotes, backslashes and line breaks in labels", () => {
    const series = createSeries();
    const strange = 'a"b\\c\nd';
    series.counter("rings_total", "Rings.", ["bell"])(strange).value += 1;
    assert.equal(parseMetrics(series.text()).value("rings_total", { bell: strange }), 1);
  });
});

describe("a histogram", () => {
  it("counts each value in every bucket whose bound is not below it", () => {
    const series = createSeries();
    const observe = series.histogram("wait_seconds", "Waits.", [0.1, 1, 10], ["bell"])("left");
    for (const seconds of [0, 0.1, 0.5, 10, 11]) observe(seconds);

    const scrape = parseMetrics(series.text());
    const bucket = (le: string) => scrape.value("wait_seconds_bucket", { bell: "left", le });
    assert.deepEqual(["0.1", "1", "10", "+Inf"].map(bucket), [2, 3, 4, 5]);
    assert.equal(scrape.value("wait_seconds_sum", { bell: "left" }), 21.6);
    assert.equal(scrape.value("wait_seconds_count", { bell: "left" }), 5);
  });
});
