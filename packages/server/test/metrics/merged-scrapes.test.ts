import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { mergeScrapes } from "../../src/metrics/merged-scrapes.ts";
import { createSeries } from "../../src/metrics/series.ts";
import { parseMetrics } from "./parse-metrics.ts";

function textOf(count: number): string {
  const series = createSeries();
  series.counter("plain_total", "Without labels.")().value += count;
  series.counter("named_total", "With one.", ["name"])('a "b} 1').value += count;
  series.histogram("took_seconds", "A spread.", [0.1, 1])()(count);
  return series.text();
}

describe("mergeScrapes", () => {
  it("returns each metric once, and each sample with its process", () => {
    const merged = parseMetrics(
      mergeScrapes([
        { process: "1", text: textOf(3) },
        { process: "2", text: textOf(4) },
      ]),
    );
    assert.equal(merged.value("plain_total", { process: "1" }), 3);
    assert.equal(merged.value("plain_total", { process: "2" }), 4);
    assert.equal(merged.value("named_total", { process: "2", name: 'a "b} 1' }), 4);
    assert.equal(merged.value("took_seconds_bucket", { process: "1", le: "+Inf" }), 1);
  });

  it("shows a process that did not answer, and keeps metrics of one process only", () => {
    const merged = parseMetrics(
      mergeScrapes([
        { process: "parent", text: "# HELP own Only here.\n# TYPE own gauge\nown 7\n" },
        { process: "1", text: textOf(1) },
        { process: "2", text: null },
      ]),
    );
    assert.equal(merged.value("own", { process: "parent" }), 7);
    assert.equal(merged.value("bellhop_process_up", { process: "1" }), 1);
    assert.equal(merged.value("bellhop_process_up", { process: "2" }), 0);
  });
});
