import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createAttemptSlot } from "../../src/engine/attempt-slot.ts";

describe("the slot of an attempt", () => {
  function createSlot(isFreeAfterCall: boolean) {
    const counts = { givenBack: 0 };
    const giveBack = () => {
      counts.givenBack += 1;
    };
    return { counts, slot: createAttemptSlot(() => isFreeAfterCall, giveBack) };
  }

  it("is given back when the call has ended, and not a second time when it is settled", () => {
    const { counts, slot } = createSlot(true);
    slot.called(1);
    assert.equal(counts.givenBack, 1);
    slot.ended();
    assert.equal(counts.givenBack, 1);
  });

  it("is kept until the attempt is settled where the next call depends on it", () => {
    const { counts, slot } = createSlot(false);
    slot.called(1);
    assert.equal(counts.givenBack, 0);
    slot.ended();
    assert.equal(counts.givenBack, 1);
  });

  it("is kept until the attempt is settled while more than 300 settlements wait", () => {
    const { counts, slot } = createSlot(true);
    slot.called(301);
    assert.equal(counts.givenBack, 0);
    slot.ended();
    assert.equal(counts.givenBack, 1);
  });
});
