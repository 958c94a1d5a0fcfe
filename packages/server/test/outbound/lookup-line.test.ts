import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLookupLine } from "../../src/outbound/lookup-line.ts";
import { gate } from "./gate.ts";

/** A lookup whose answers the test gives. */
function scene(perTeam: number, patienceMs = 10_000) {
  const asked: string[] = [];
  const answers = new Map<string, ReturnType<typeof gate<readonly string[]>>>();
  const line = createLookupLine({
    perTeam,
    patienceMs,
    lookup: (hostname) => {
      asked.push(hostname);
      const answer = gate<readonly string[]>();
      answers.set(hostname, answer);
      return answer.opened;
    },
  });
  const answer = async (hostname: string) => {
    answers.get(hostname)?.open(["8.8.8.8"]);
    await new Promise(setImmediate);
  };
  return { asked, answer, find: line.find };
}

describe("createLookupLine", () => {
  it("limits a team's lookups in flight and queues the rest in order", async () => {
    const { asked, answer, find } = scene(2);
    const all = ["a", "b", "c", "d"].map((name) => find(name, [1]));
    assert.deepEqual(asked, ["a", "b"]);
    await answer("b");
    assert.deepEqual(asked, ["a", "b", "c"]);
    await answer("c");
    await answer("a");
    await answer("d");
    assert.deepEqual(await Promise.all(all), Array(4).fill(["8.8.8.8"]));
  });

  it("looks a name up at once for a team with room, even if it waits for another team", async () => {
    const { asked, answer, find } = scene(1);
    void find("a", [1]);
    const waiting = find("b", [1]);
    const joined = find("b", [1, 2]);
    assert.deepEqual(asked, ["a", "b"]);
    await answer("b");
    assert.deepEqual(await waiting, ["8.8.8.8"]);
    assert.deepEqual(await joined, ["8.8.8.8"]);
    void find("c", [2]);
    assert.deepEqual(asked, ["a", "b", "c"], "its room was given back");
  });

  it("does not look up a name whose calls gave up while it waited", async () => {
    const { asked, find } = scene(1, 0);
    await assert.rejects(find("a", [1]), /waited for too long/);
    assert.deepEqual(asked, []);
  });
});
