import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createScanLine } from "../../../src/service/tasks/scan-line.ts";

describe("scans over all tasks of a team", () => {
  function openLine() {
    const line = createScanLine();
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const scan = (teamId: number, name: string) =>
      line.run(teamId, () => {
        begun.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      });
    const end = async (name: string) => {
      ends.get(name)?.();
      await new Promise(setImmediate);
    };
    return { line, begun, scan, end };
  }

  it("run one at a time per team and two per node, with teams in turn", async () => {
    const { begun, scan, end } = openLine();
    const all = [scan(1, "a1"), scan(1, "a2"), scan(1, "a3"), scan(2, "b1"), scan(3, "c1"), scan(2, "b2")];
    await new Promise(setImmediate);
    assert.deepEqual(begun, ["a1", "b1"]);
    await end("a1");
    assert.deepEqual(begun.slice(2), ["a2"]);
    await end("b1");
    assert.deepEqual(begun.slice(3), ["c1"]);
    await end("a2");
    assert.deepEqual(begun.slice(4), ["b2"]);
    await end("c1");
    assert.deepEqual(begun.slice(5), ["a3"]);
    for (const name of ["b2", "a3"]) await end(name);
    await Promise.all(all);
  });

  it("are refused beyond five waiting of one team, and continue after a failed one", async () => {
    const { line, begun, scan, end } = openLine();
    const failing = line.run(1, () => Promise.reject(new Error("no database")));
    const waiting = ["1", "2", "3", "4", "5"].map((name) => scan(1, name));
    await assert.rejects(scan(1, "6"), { code: "too_many_scans", status: 429 });
    await assert.rejects(failing, /no database/);
    for (const name of ["1", "2", "3", "4", "5"]) {
      await new Promise(setImmediate);
      await end(name);
    }
    await Promise.all(waiting);
    assert.deepEqual(begun, ["1", "2", "3", "4", "5"]);
  });
});
