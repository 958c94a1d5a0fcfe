import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLimitsOf } from "../../../src/domain/limits.ts";
import { createStreamPlaces } from "../../../src/service/tasks/stream-places.ts";

const limitsOf = createLimitsOf();

describe("the stream limit of a node", () => {
  const ownerOf = (teamId: number, plan: "free" | "pro" | "enterprise") => ({
    teamId,
    plan,
    limits: limitsOf(plan, null),
  });

  it("limits each team by its plan, and not a team without a figure", () => {
    const places = createStreamPlaces();
    const open = (teamId: number, plan: "free" | "pro" | "enterprise", count: number) => {
      for (let index = 0; index < count; index += 1) places.take(ownerOf(teamId, plan));
    };
    open(1, "free", 5);
    open(2, "pro", 50);
    open(3, "enterprise", 500);
    assert.throws(() => places.take(ownerOf(1, "free")), { code: "streams_full", status: 429 });
    assert.throws(() => places.take(ownerOf(2, "pro")), { code: "streams_full" });
    open(4, "free", 5);
    assert.equal(places.taken, 560);
  });

  it("reserves the last tenth for teams without an open stream", () => {
    const places = createStreamPlaces();
    const greedy = ownerOf(1, "enterprise");
    let giveBack = () => {};
    for (let index = 0; index < 1_800; index += 1) giveBack = places.take(greedy);
    assert.throws(() => places.take(greedy), { code: "too_many_streams", status: 429 });

    for (let teamId = 2; teamId <= 201; teamId += 1) places.take(ownerOf(teamId, "free"));
    assert.throws(() => places.take(ownerOf(2, "free")), { code: "too_many_streams" });
    assert.throws(() => places.take(ownerOf(999, "free")), { code: "too_many_streams" });

    giveBack();
    places.take(ownerOf(999, "free"));
    assert.equal(places.taken, 2_000);
  });
});
