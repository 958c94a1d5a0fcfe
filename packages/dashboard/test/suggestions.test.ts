import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TaskSummary } from "@bellhop/sdk";
import { matching, suggestionsOf, typedText } from "../src/data/suggestions.ts";

const task = (tags: readonly string[], metadata: Record<string, string>) =>
  ({ webhookUrl: "https://api.example.com:8443/x", tags, metadata }) as unknown as TaskSummary;

describe("what the search completes", () => {
  const known = suggestionsOf([
    task(["vip", "customer:cus_7"], { customer: "cus_7" }),
    task(["vip"], { customer: "cus_9" }),
  ]);

  it("has the tags, hosts and metadata of tasks, the most frequent first", () => {
    assert.deepEqual(known.map(typedText), [
      "tag:vip",
      "host:api.example.com",
      "tag:customer:cus_7",
      "metadata:customer=cus_7",
      "metadata:customer=cus_9",
    ]);
  });

  it("finds what has the text in it, and first what begins with it", () => {
    const found = (text: string) => matching(known, text, 2).map(typedText);
    assert.deepEqual(found("CUS_9"), ["metadata:customer=cus_9"]);
    assert.deepEqual(found("cus"), ["tag:customer:cus_7", "metadata:customer=cus_7"]);
    assert.deepEqual(found(" "), []);
  });
});
