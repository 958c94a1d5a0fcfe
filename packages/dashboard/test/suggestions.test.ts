import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { matching, suggestionsOf, typedText } from "../src/data/suggestions.ts";

const task = (tags: string[], metadata: Record<string, string>) => ({
  webhookUrl: "https://api.example.com:8443/x",
  tags,
  metadata,
});

describe("search suggestions", () => {
  const known = suggestionsOf([
    task(["vip", "customer:cus_7"], { customer: "cus_7" }),
    task(["vip"], { customer: "cus_9" }),
  ]);

  it("are the tags, hosts and metadata of tasks, most frequent first", () => {
    assert.deepEqual(known.map(typedText), [
      "tag:vip",
      "host:api.example.com",
      "tag:customer:cus_7",
      "metadata:customer=cus_7",
      "metadata:customer=cus_9",
    ]);
  });

  it("contain the typed text, and begin with it first", () => {
    const found = (text: string) => matching(known, text, 2).map(typedText);
    assert.deepEqual(found("CUS_9"), ["metadata:customer=cus_9"]);
    assert.deepEqual(found("cus"), ["tag:customer:cus_7", "metadata:customer=cus_7"]);
    assert.deepEqual(found(" "), []);
  });
});
