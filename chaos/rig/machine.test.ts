import assert from "node:assert/strict";
import { test } from "node:test";
import { isCrowded } from "./machine.ts";

test("a machine is crowded when other processes use more than a fifth of its CPU time", () => {
  const before = { at: 0, busy: 100, ours: 50 };
  const crowded = (busy: number, ours: number) => isCrowded(before, { at: 1_000, busy, ours }, 2);
  assert.equal(crowded(100, 50), false, "nobody works");
  assert.equal(crowded(102, 52), false, "the run takes both processors");
  assert.equal(crowded(102, 51.8), false, "others take a tenth");
  assert.equal(crowded(102, 51), true, "two busy loops take half");
  assert.equal(crowded(101, 50), true, "others take one processor, and the run is idle");
  assert.equal(
    crowded(102, 20),
    false,
    "a process of the run was killed with its parent, and its time is lost",
  );
});
