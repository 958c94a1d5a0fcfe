import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readFilter, readTaskSearch, searchOf } from "../src/data/task-search.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");

describe("what is typed into the search of tasks", () => {
  it("takes a filter by its word or by the API's", () => {
    assert.deepEqual(readFilter("code:5xx", NOW), ["response_code", "5xx"]);
    assert.deepEqual(readFilter("failure_reason:expired", NOW), ["failure_reason", "expired"]);
  });

  it("reads a time given by its age", () => {
    assert.deepEqual(readFilter("after:2h", NOW), ["created_after", "2026-03-01T10:00:00.000Z"]);
  });

  it("looks for several words anywhere in errors", () => {
    assert.deepEqual(readFilter("card declined", NOW), ["error", "*card declined*"]);
    assert.deepEqual(readFilter("error:timeout*", NOW), ["error", "timeout*"]);
    assert.deepEqual(readFilter("metadata:order=4711", NOW), ["metadata", "order=4711"]);
  });

  it("knows ids and hosts without a word, and takes the rest for a tag", () => {
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

describe("the address of the list of tasks", () => {
  it("holds what the API knows, and nothing else", () => {
    assert.deepEqual(readTaskSearch({ status: "failed", tag: "", evil: "1", queue: 7 }), {
      status: "failed",
    });
  });

  it("is made of a group's filter", () => {
    assert.deepEqual(searchOf({ queue: "emails", failureReason: "expired" }), {
      queue: "emails",
      failure_reason: "expired",
    });
  });
});
