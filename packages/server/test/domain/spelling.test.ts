import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { closestName } from "../../src/domain/spelling.ts";

describe("the closest known name", () => {
  const NAMES = ["name", "role", "max_retries", "email", "priority", "BELLHOP_ROLE", "BELLHOP_BODY_LIMIT"];

  for (const [typo, meant] of [
    ["nmae", "name"],
    ["roel", "role"],
    ["nam", "name"],
    ["maxRetries", "max_retries"],
    ["max_retry", "max_retries"],
    ["emial", "email"],
    ["mane", undefined],
    ["rule", "role"],
    ["colour", undefined],
    ["retries_max", "max_retries"],
    ["retriesMax", "max_retries"],
    ["BELLHOP_LIMIT_BODY", "BELLHOP_BODY_LIMIT"],
    ["BELLHOP_ROEL", "BELLHOP_ROLE"],
    ["BELLHOP_MODE", undefined],
    ["n".repeat(100), undefined],
  ] as const) {
    it(`is ${meant ?? "not found"} for ${typo.slice(0, 12)}`, () =>
      assert.equal(closestName(typo, NAMES), meant));
  }
});
