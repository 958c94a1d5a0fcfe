import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readFilter, readTaskSearch, searchOf } from "../src/data/task-search.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");

describe("readFilter", () => {
  it("accepts a filter by its short name or by the API's name", () => {
    assert.deepEqual(readFilter("code:5xx", NOW), ["response_code", "5xx"]);
    assert.deepEqual(readFilter("failure_reason:expired", NOW), ["failure_reason", "expired"]);
  });

  it("reads a time as an age", () => {
    assert.deepEqual(readFilter("after:2h", NOW), ["created_after", "2026-03-01T10:00:00.000Z"]);
  });

  it("searches for several words anywhere in errors", () => {
    assert.deepEqual(readFilter("card declined", NOW), ["error", "*card declined*"]);
    assert.deepEqual(readFilter("error:timeout*", NOW), ["error", "timeout*"]);
    assert.deepEqual(readFilter("metadata:order=4711", NOW), ["metadata", "order=4711"]);
  });

  it("recognizes ids and hosts without a prefix, and reads anything else as a tag", () => {
    const id = "01a1e0f6-e221-7335-aa32-283342cad31c";
    const read = (text: string) => readFilter(text, NOW);
    assert.deepEqual([id, "api.example.com", "vip", " "].map(read), [
      ["id", id],
      ["host", "api.example.com"],
      ["tag", "vip"],
      null,
    ]);
  });
});

describe("the URL of the task list", () => {
  it("has only parameters that the API knows", () => {
    assert.deepEqual(readTaskSearch({ status: "failed", tag: "", evil: "1", queue: 7 }), {
      status: "failed",
    });
  });

  it("is built from the filter of a failure group", () => {
    assert.deepEqual(searchOf({ queue: "emails", failureReason: "expired" }), {
      queue: "emails",
      failure_reason: "expired",
    });
  });
});
